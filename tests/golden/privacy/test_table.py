"""The table of ``python -m podium.privacy`` as it is printed, and the error texts that users meet."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from podium.errors import BudgetExceeded, BudgetMismatch, InvalidArgument, UnknownEvent
from podium.privacy import Filter, GaussianNoise, Guarantee, PureMechanism, Selection, decode_event
from podium.privacy.__main__ import main

TABLE = """\
Total epsilon of k=100 adaptive selections, epsilon=0.1 each, delta=1e-6

  theorem                                                     total  source
  basic composition                                              10  Dwork, McSherry, Nissim & Smith 2006
  advanced composition                                      5.75611  Durfee & Rogers 2019, Theorem 3
  optimal composition of pure mechanisms, discrete              4.8  Durfee & Rogers 2019, Lemma A.1 (at its own delta 8.055e-7)
  optimal composition of pure mechanisms                    4.77457  Kairouz, Oh & Viswanath 2015, Theorem 3.3
  bounded-range composition, three terms                    3.12827  Durfee & Rogers 2019, Theorem 1
  bounded-range composition, three terms with e^2/8         2.75327  Durfee & Rogers 2019, Theorem 1, mean loss e^2/8
  zCDP with e^2/8                                            2.4191  Cesar & Rogers 2021
  zCDP                                                      2.41891  Bun & Steinke 2016; Canonne, Kamath & Steinke 2020
  Renyi curve                                                2.4002  Mironov 2017; Canonne, Kamath & Steinke 2020
* adaptive bounded-range optimum                            2.25099  docs/proofs/accounting.md, after Dong, Durfee & Rogers 2020
  non-adaptive bounded-range optimum                        2.24603  Dong, Durfee & Rogers 2020 (NOT valid for peeling, which is adaptive)

* smallest that is sound for top-k peeling. Totals are rounded up.
"""  # noqa: E501


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--k", "100", "--epsilon", "0.1", "--delta", "1e-6"])
    assert capsys.readouterr().out == TABLE


def test_error_texts() -> None:
    with pytest.raises(InvalidArgument) as zero:
        Selection(0)
    assert str(zero.value) == "epsilon=0 is not valid. Allowed: a number above 0."

    with pytest.raises(InvalidArgument) as certain:
        Guarantee.approximate(1, 1)
    assert str(certain.value) == "delta=1 is not valid. Allowed: a number with 0 <= value < 1."

    with pytest.raises(InvalidArgument) as missing:
        Guarantee.zcdp("0.1").epsilon()
    assert str(missing.value) == (
        "delta=None is not valid. Allowed: a number above the 0 at which this guarantee fails. "
        "A zCDP loss has no finite epsilon at delta = 0; a usual choice is 1e-6."
    )

    with pytest.raises(BudgetExceeded) as short:
        Filter(Guarantee.zcdp(Fraction(31, 1000))).spend(GaussianNoise("3.16227766"))
    assert str(short.value) == "this release may cost rho=0.05 but the budget has rho=0.031 left (short by 0.019)."

    with pytest.raises(BudgetMismatch) as unbounded:
        Filter(Guarantee.pure(1)).spend(GaussianNoise(1))
    assert str(unbounded.value) == (
        "an unbounded loss cannot be charged to a pure budget. A pure budget carries mechanisms with a finite epsilon "
        "and delta=0 only. Register the data with an approximate or zCDP total to use unknown domains or "
        "Gaussian noise."
    )

    with pytest.raises(UnknownEvent) as newer:
        decode_event({"kind": "selection", "version": 9, "epsilon": "1"})
    assert str(newer.value) == (
        "event=('selection', 9) is not valid. Allowed: a kind and version of podium's closed registry of events. "
        "A receipt written by a newer podium needs that version, or a later one, to be read."
    )

    with pytest.raises(InvalidArgument) as above_reserve:
        PureMechanism(2, reserved=1)
    assert str(above_reserve.value) == (
        "epsilon=2 is not valid. Allowed: a number from 0 to reserved=1. "
        "No outcome may cost more than what was reserved for it."
    )


def test_an_error_that_knows_the_total_speaks_of_percentages_that_differ() -> None:
    """Rounded apart: what just does not fit is never said to be what is left."""
    short = BudgetExceeded(
        "rho", Fraction("0.05001"), Fraction("0.05"), budget="'clicks'", total=Fraction(1), hint="Ask."
    )
    assert str(short) == "This answer may cost 6 % of the budget of 'clicks', and 5 % is left. Ask."
    assert pickle.loads(pickle.dumps(short)).args == short.args  # noqa: S301 - our own
    delta = BudgetExceeded("delta", Fraction(3, 8), Fraction(0), budget="'clicks'", total=Fraction(1, 4))
    assert str(delta) == "This answer may cost 150 % of the delta of 'clicks', and 0 % is left."
