"""Arbitrary-delay timers (since 5.0.0): the timerlog, the timer wheel, timercheck.

In: the files of timerwheel and timerlog/. Out: units, slots, numbers. They are not compared with the log.
"""
