"""What a release tells beside its value: orders, texts, and what the auditor sees of them."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS = (
    Mutant(
        "release/outcome.py",
        "tuple(dict.fromkeys(sorted(items, key=lambda item: (item_order(item), repr(item)))))",
        "tuple(dict.fromkeys(items))",
        "a set is listed in the order of its items, not in that in which they came",
        ("unit/test_item_sets.py::test_every_way_to_fill_a_set_gives_the_same_release",),
    ),
    Mutant(
        "release/outcome.py",
        "key=lambda item: (item_order(item), repr(item))",
        "key=item_order",
        "which of equal items stays is not decided by who came first",
        ("unit/test_item_sets.py::test_which_of_equal_items_stays_is_not_decided_by_who_came_first[decimals]",),
    ),
    Mutant(
        "release/groups.py",
        "return iter(self._groups)",
        "return reversed(self._groups)",
        "lists come in the order of their groups",
        ("unit/test_grouped_release.py::test_lists_come_in_the_order_of_their_groups_however_they_were_put_in",),
    ),
    Mutant(
        "release/groups.py",
        "if isinstance(self.outcome, AbstractSet) and type(self.outcome) is not ItemSet:",
        "if False:",
        "the set of a group is listed in the order of its items",
        ("unit/test_grouped_release.py::test_a_set_in_each_group",),
    ),
    Mutant(
        "release/grouped_release.py",
        "if type(self.lists) is not GroupLists:",
        "if False:",
        "every release has its lists in the order of the groups",
        ("unit/test_grouped_release.py::test_what_is_written",),
    ),
    Mutant(
        "release/release.py",
        "if isinstance(self.outcome, Set) and type(self.outcome) is not ItemSet:",
        "if False:",
        "every release has its set in that order",
        ("unit/test_item_sets.py::test_every_way_to_fill_a_set_gives_the_same_release",),
    ),
    Mutant(
        "release/outcome.py",
        "return iter(self._listed)",
        "return super().__iter__()",
        "also when it is gone through",
        ("unit/test_item_sets.py::test_it_looks_like_a_frozenset",),
    ),
    Mutant(
        "release/outcome.py",
        "return (type(self), (self._listed,))",
        "return (frozenset, (self._listed,))",
        "also when it is copied or pickled",
        ("unit/test_item_sets.py::test_it_is_a_frozenset_in_one_order",),
    ),
    Mutant(
        "curator/rounds.py",
        "values = None if release.values is None else tuple(by_name[item] for item in named if item in by_name)",
        "values = release.values",
        "values go with their names, and not in the order of true counts",
        ("integration/curator/test_sets.py::test_values_of_a_set_go_with_their_names",),
    ),
    Mutant(
        "audit/statistical/observation.py",
        "            _without(release, _json),\n",
        "",
        "the auditor compares how a release is written",
        ("unit/audit/test_seen.py::test_a_total_hidden_anywhere_is_found[JSON]",),
    ),
    Mutant(
        "audit/statistical/observation.py",
        "            _without(release, repr),\n",
        "",
        "the auditor compares how a release is shown",
        ("unit/audit/test_seen.py::test_a_total_hidden_anywhere_is_found[repr]",),
    ),
    Mutant(
        "audit/statistical/observation.py",
        "            tuple(key for key, _ in values),\n",
        "",
        "the auditor compares the types of values",
        ("unit/audit/test_seen.py::test_a_total_hidden_anywhere_is_found[type of a value]",),
    ),
    Mutant(
        "audit/statistical/observation.py",
        "if isinstance(value, frozenset) and not self._orders and type(value) is not ItemSet:",
        "if isinstance(value, frozenset):",
        "the auditor sees the order of a set",
        ("unit/audit/test_seen.py::test_sets_from_another_process_are_compared_without_their_order",),
    ),
    Mutant(
        "audit/statistical/observation.py",
        "return cls(kind, text)",
        'return cls(kind, "")',
        "the text of an error is an answer",
        ("unit/audit/test_seen.py::test_an_error_with_what_it_came_from",),
    ),
    Mutant(
        "audit/statistical/draws.py",
        "            return Raised.of(error)",
        "            return None",
        "an error is an outcome",
        ("unit/audit/test_seen.py::test_errors_are_counted_and_said",),
    ),
    Mutant(
        "present/tables.py",
        "_safe_cell if spreadsheet_safe else _cell",
        "_cell",
        "an item is not computed by a spreadsheet",
        ("unit/present/test_tables.py::test_no_cell_of_a_csv_is_a_formula_or_moves_the_cursor",),
    ),
    Mutant(
        "present/text/names.py",
        """shown.lstrip("'").startswith""",
        "shown.startswith",
        "texts that differ stay different",
        ("unit/present/test_tables.py::test_no_cell_of_a_csv_is_a_formula_or_moves_the_cursor",),
    ),
    Mutant(
        "present/text/names.py",
        "for sign in text) else repr(text)",
        "for sign in text) else text",
        "an item is not obeyed by a terminal",
        ("unit/present/test_terminal.py::test_markup_in_data_is_text",),
    ),
    Mutant(
        "present/json.py",
        'if all(sign.isprintable() or sign == "\\n" for sign in text):',
        "if True:",
        "nor one in JSON",
        ("unit/present/test_terminal.py::test_nothing_that_a_stored_release_says_reaches_the_terminal_as_a_command",),
    ),
    Mutant(
        "curator/prepare.py",
        "domain=self.domain, keep_pairs=in_rounds, shown_as=shown_as",
        "domain=self.domain, keep_pairs=in_rounds",
        "a plan names the data set, and not where it is",
        ("unit/service/test_api.py::test_the_sql_of_a_plan_names_the_data_set_and_not_where_it_is",),
    ),
)
