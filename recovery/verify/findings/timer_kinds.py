"""Kinds of findings about timers of any delay: timerlog/, timerwheel and config/timercheck."""

from __future__ import annotations

from recovery.verify.findings.kind import Kind

NOTHING_SAFE = (
    "None known. Copy the store before any start and compare timerlog/, timerwheel and config/timercheck with a "
    "replica's. Do not remove them: the broker would take in every timer message that the log still has, and deliver "
    "again what was delivered or cancelled. "
)
SEND_AGAIN = (
    "Timer messages that the log still has are in topic rmq_sys_wheel_timer (`rocketlens dump commitlog`): those that "
    "were never delivered can be sent again."
)

TIMER_KINDS: dict[str, Kind] = {
    "timer_wheel_size_wrong": Kind(
        "critical",
        "none",
        "The file of every broker's timer wheel has the same size.",
        "BrokerController#initialize fails before the store loads: the broker does not start, but with "
        "timerWheelEnable=false, when no timer of any delay is taken in or delivered.",
        "Copy the store. Put a copy of timerwheel, timerlog/ and config/timercheck of one moment in place, from a "
        "backup. Do not remove the file alone: timers that are in its slots only would never be delivered. "
        + SEND_AGAIN,
    ),
    "timer_log_size_wrong": Kind(
        "critical",
        "none",
        "Every file of the timer log has the size that mappedFileSizeTimerLog says.",
        "TimerMessageStore#load is false: the broker does not start, but with timerWheelEnable=false, when no timer of "
        "any delay is taken in or delivered. Since 5.1.3 an empty last file is deleted.",
        "Copy the store. Where there are several files, all of one size, start with it as mappedFileSizeTimerLog. "
        "Otherwise, and where there is a single file, which may have been cut, put a copy of timerlog/, timerwheel and "
        "config/timercheck of one moment in place, from a backup: what was delivered after that moment is delivered "
        "again. Do not give a file its size with zeros: after a unit that was cut in two, waiting timers would never "
        "be delivered. " + SEND_AGAIN,
    ),
    "timer_wheel_missing": Kind(
        "warning",
        "none",
        "A broker that has set timers has a wheel of their slots.",
        "It makes a new wheel, and sets slots in it from the last one or two files of the timer log: timers that are "
        "in older files only are never delivered.",
        "Copy the store before any start. Where the timer log has more than two files put the wheel of a backup or a "
        "replica in place, with the timerlog/ and config/timercheck of the same moment. " + SEND_AGAIN,
    ),
    "timer_log_missing": Kind(
        "critical",
        "none",
        "A broker deletes no file of the timer log of which the CommitLog still has messages, and never the last one.",
        "Timers that were waiting and have their units in missing files are never delivered. Where no file is left a "
        "new timer log begins behind the timer messages that timercheck counts.",
        "Copy the store before any start. Put timerlog/, timerwheel and config/timercheck of one moment in place, from "
        "a backup: what was delivered after that moment is delivered again. " + SEND_AGAIN,
    ),
    "timer_check_missing": Kind(
        "error",
        "none",
        "A broker that has set timers keeps how far it has come with them.",
        "It begins with the first timer message that the log still has, and with the slots of a week ago: what was "
        "delivered or cancelled is delivered again.",
        "Copy the store before any start. Put config/timercheck in place, from a copy of this store, the newest there "
        "is: what was delivered after that copy was made is delivered again.",
    ),
    "timer_unit_wrong": Kind(
        "error",
        "commitlog",
        "The timer log is made from the timer messages of the CommitLog, and the unit is none of a message there.",
        "Recovery looks at a unit's size and magic alone: it cuts the timer log at the first that is wrong in these, "
        "and keeps every other. When the timer is due, what stands at the named place is read; where that is no "
        "message, nothing is delivered, and only a line of the log says so.",
        NOTHING_SAFE + SEND_AGAIN,
    ),
    "timer_slot_wrong": Kind(
        "error",
        "unknown",
        "The wheel's slot and the chain of units in the timer log do not fit.",
        "Recovery sets the slots' last positions anew from the last one or two files of the timer log, which mends a "
        "slot that has units there; any other it keeps. Timers behind a break of the chain are not delivered.",
        NOTHING_SAFE + SEND_AGAIN,
    ),
    "timer_check_wrong": Kind(
        "warning",
        "commitlog",
        "timercheck speaks of timer messages or units that are not there, or contradicts itself.",
        "The queue offset is taken from the timer log's last unit; only where its message cannot be read from "
        "timercheck, at most the queue's maximum: timer messages before it are then never taken in. A lesser offset of "
        "the master is taken instead: timer messages behind it are taken in, and delivered, again. Timers that are due "
        "before the time of delivery are passed over; where that is 0, as a start leaves it that was refused before it "
        "read the file (5.0.0, 5.1.0, 5.1.1, 5.4.0 and later), those of the last seven days are delivered again. A "
        "flush position that is too high lets recovery check only the last file.",
        NOTHING_SAFE + SEND_AGAIN,
    ),
}
