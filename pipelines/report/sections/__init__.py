"""The sections of a report, one for each question, and their order.

In: facts. Out: sections: tables, figures and pictures. They open no store.
"""
