"""Bundles: each field of a frozen dataclass is an option of every command that has a parameter of its type."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated

import typer

from pipelines.cli.docs import leaves
from pipelines.cli.frame.asked.bundles import arguments_of, options_of, single_options
from pipelines.cli.frame.asked.options import BrokerOptions, GroupOptions, TopicOption
from pipelines.cli.frame.call.run import Run


@dataclass(frozen=True, slots=True)
class Sought:
    """What is sought."""

    name: Annotated[str, typer.Option(help="Its name.")]
    topic: TopicOption = None


def body(run: Run, sought: Sought, *, most: int = 5, broker: BrokerOptions) -> None:
    """A command."""


def test_options_stand_in_the_order_of_the_parameters() -> None:
    assert [option.name for option in single_options(body)] == [
        "name",
        "topic",
        "most",
        "version",
        "config",
        "broker_conf",
    ]


def test_an_option_keeps_its_default() -> None:
    assert [option.default for option in options_of(Sought)] == [Parameter.empty, None]


def test_a_bundle_is_made_from_its_options() -> None:
    assert arguments_of(body, {"name": "a", "most": 2, "version": "5.3.3"}) == {
        "sought": Sought("a"),
        "most": 2,
        "broker": BrokerOptions("5.3.3"),
    }


def test_a_bundle_that_is_given_whole_is_taken_as_it_is() -> None:
    said = BrokerOptions("4.9.7")
    assert arguments_of(body, {"name": "a", "topic": "T", "broker": said}) == {
        "sought": Sought("a", "T"),
        "broker": said,
    }


def test_one_group_filter_serves_rows_with_and_without_a_group() -> None:
    assert GroupOptions().wants(None, "T")
    assert not GroupOptions(group="G").wants(None, "T")
    assert not GroupOptions(topic="T").wants("G", "U")


def test_no_command_has_an_option_twice() -> None:
    for name, command in leaves().items():
        said = [spelling for parameter in command.params for spelling in parameter.opts]
        assert len(said) == len(set(said)), name
