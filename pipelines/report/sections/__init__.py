"""The sections of a report, siblings under one contract: the sections of one question each; and their order.

In: facts. Out: sections: tables, figures and pictures. They open no store.
"""
