"""The sections of a report and their order: siblings under one contract, in each file those of one question.

In: facts. Out: sections: tables, figures and pictures. They open no store.
"""
