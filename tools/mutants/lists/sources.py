"""Which rows of a user count."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_GROUPS = "contract/sources/test_duckdb.py::TestParquet"

MUTANTS = (
    Mutant(
        "sources/spark/source.py",
        'f"{options} {_SILENT_EXECUTOR}".strip()',
        "options",
        "executors that start when the log is off already do not quote rows",
        ("integration/sources/test_spark_failures.py::test_a_master_by_its_url",),
    ),
    Mutant(
        "sources/engine_check/engines.py",
        'version = "unknown" if number is None else number.group()',
        'version = "unknown" if number is None else said',
        "a report of an engine has only the digits of what a server says about itself",
        ("integration/sources/test_engine_check.py::test_duckdb_and_files_that_are_not_read",),
    ),
    Mutant(
        "sources/engine_check/engine_report.py",
        "        elif probe(engine):",
        '        elif probe(engine) or area == "compares":',
        "an engine that ignores case fails its check",
        ("integration/sources/test_engine_check.py::test_an_engine_that_is_broken_on_purpose",),
    ),
    Mutant(
        "sources/sql/salted_hash.py",
        "dialect.md5(text_of(values, dialect, [exp.Literal.string(str(salt))]))",
        'dialect.md5(text_of(values, dialect, [exp.Literal.string("")]))',
        "which items a user keeps depends on the salt",
        ("integration/curator/test_answers.py::test_each_user_adds_to_so_many_items",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "values = zip((column(place, table) for place in (USER, *pairs.places)), declared, strict=True)",
        "values = zip((column(place, table) for place in pairs.places), declared[1:], strict=True)",
        "each user keeps items of their own",
        ("integration/curator/test_answers.py::test_each_user_adds_to_so_many_items",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "else at > self.max_items,",
        "else at > self.max_items + 1,",
        "a user keeps no more items than stated",
        ("integration/curator/test_answers.py::test_each_user_adds_to_so_many_items",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "where(at <= self.max_items if keep",
        "where(at <= self.max_items + 1 if keep",
        "a user keeps no more items than stated where items have weights",
        ("golden/sources/test_sql.py::test_the_sql_is_the_one_we_mean",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "return counted.having(total.copy() > 0)",
        "return counted",
        "an item that nobody keeps is not listed",
        ("unit/sources/test_cut_items.py::test_an_item_that_nobody_keeps_is_not_listed",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "weights is None else exp.Literal.number(weights[-1][1])",
        "weights is None else exp.Literal.number(weights[0][1])",
        "who is cut has the last weight",
        ("golden/sources/test_sql.py::test_the_sql_is_the_one_we_mean",),
    ),
    Mutant(
        "sources/sql/contribution_bounding.py",
        "items.where(column(SIZE, _USERS) <= self.max_items)",
        "items",
        "who has more is cut",
        ("golden/sources/test_sql.py::test_the_sql_is_the_one_we_mean",),
    ),
    Mutant(
        "sources/sql/dialect.py",
        "for bits in (8, 16, 32)]",
        "for bits in (8, 16)]",
        "hashes are in the order of their digits on every engine",
        ("unit/sources/test_hash_order.py::test_hashes_are_in_the_order_of_their_digits",),
    ),
    Mutant(
        "sources/sql/dialect.py",
        "if largest > _MAX_FAST_WEIGHT:",
        "if False:",
        "sums of large weights do not wrap around",
        ("unit/sources/test_hash_order.py::test_only_small_weights_are_added_up_in_32_bits",),
    ),
    Mutant(
        "sources/sql/builder.py",
        "exp.Mul(this=rows(), expression=exp.Literal.number(weight))",
        "rows()",
        "a weight that all users have counts",
        ("golden/sources/test_sql.py::test_the_sql_is_the_one_we_mean",),
    ),
    Mutant(
        "sources/sql/kept_pairs.py",
        "if len(weights) == 1 and clip not in self._kept:",
        "if clip not in self._kept:",
        "users with more items have less weight",
        ("integration/sources/test_one_read.py::test_sums_with_one_weight_keep_no_table",),
    ),
    Mutant(
        "sources/sql/pairs.py",
        "return self.kept_users is not None and self.without is None and self.named is None",
        "return self.kept_users is not None",
        "users have fewer items where some are left out",
        ("unit/sources/test_kept_users.py::test_kept_users_are_those_of_all_pairs_only",),
    ),
    Mutant(
        "sources/clickhouse/source.py",
        "if session.empty() and idle:",
        "if idle:",
        "nothing that was kept is there for the next question",
        ("contract/sources/test_clickhouse.py::test_a_connection_is_used_again_without_what_was_kept",),
    ),
    Mutant(
        "sources/protocol.py",
        'raise InvalidArgument("salt", "another text", allowed',
        'raise InvalidArgument("salt", self.salt, allowed',
        "a salt is not quoted",
        ("unit/sources/test_count_query.py::test_the_salt_is_not_quoted",),
    ),
    Mutant(
        "sources/protocol.py",
        "if steps[-1][0] != max_items_per_user:",
        "if False:",
        "weights end where users are cut",
        ("unit/sources/test_count_query.py::test_weights_that_make_no_sense_are_refused",),
    ),
    Mutant(
        "sources/sql/groups/bounding.py",
        "return users.having(rows() > self.per_user)",
        "return users.having(rows() > self.per_user + 1)",
        "a user counts in no more groups than stated, also where one goes without saying",
        (f"{_GROUPS}::test_a_user_in_two_countries_counts_in_one",),
    ),
    Mutant(
        "sources/sql/groups/bounding.py",
        "where(column(_PLACE, _RANKED) <= self.per_user)",
        "where(column(_PLACE, _RANKED) <= self.per_user + 1)",
        "a user counts in no more groups than stated, where windows number them",
        ("golden/sources/test_sql.py::test_the_sql_is_the_one_we_mean",),
    ),
    Mutant(
        "sources/sql/groups/bounding.py",
        "values = zip((column(name, table) for name in self._keys()), declared, strict=True)",
        "values = zip((column(name, table) for name in self.pairs.group_places), declared[1:], strict=True)",
        "each user keeps groups of their own",
        (f"{_GROUPS}::test_a_user_in_two_countries_counts_in_one",),
    ),
    Mutant(
        "sources/sql/groups/bounding.py",
        "return hash_of(pairs.query.salt, values, pairs.dialect)",
        'return hash_of("", values, pairs.dialect)',
        "which groups a user keeps depends on the salt",
        (f"{_GROUPS}::test_a_user_in_two_countries_counts_in_one",),
    ),
    Mutant(
        "sources/sql/pairs.py",
        "if self.groups is not None:",
        "if False:",
        "rows of groups that are not listed do not count",
        (f"{_GROUPS}::test_known_groups_are_chosen_from",),
    ),
    Mutant(
        "sources/sql/groups/named_pairs.py",
        "there.per_user is not None and query.salt != kept.salt",
        "False",
        "all rounds see the same groups of a user",
        (f"{_GROUPS}::test_rounds_of_all_groups",),
    ),
    Mutant(
        "sources/protocol.py",
        "if query.weights is not None and not groups.within_group and groups.per_user is not None:",
        "if False:",
        "weights count the items of one group",
        ("unit/sources/test_count_query.py::test_weights_count_the_items_of_one_group",),
    ),
    Mutant(
        "sources/nearly_tables.py",
        "collected = None\n",
        'raise SourceUnavailable("source=a lazy frame could not be worked out")\n',
        "what a lazy frame fails with may quote a value",
        ("integration/sources/test_frames.py::test_a_lazy_frame_that_fails_is_not_quoted",),
    ),
)
