"""What may be asked: options, their bundles and values, help, what shells ask.

In: words of the command line. Out: values, help pages. It opens nothing and knows no call.
"""
