"""The tests of Client, with AsyncClient in its place: same rules, same answers, same errors."""

import sys
import unittest
import unittest.mock

import harness
import test_calls
import test_close
import test_errors
import test_feed
import test_gates
import test_holds
import test_lists
import test_operators
import test_restarts
import test_rules
import test_streams
import test_touch
import test_usage
from async_facade import AsyncFacade

# These look at the threads of Client.
LEFT_OUT = {"test_time_limits_of_any_size_hold_on_streams", "test_close_leaves_no_thread_behind"}


def with_async_client(case):
    """A subclass of `case` whose module has AsyncFacade as its Client."""
    def set_up(self):
        for module in (harness, sys.modules[case.__module__]):
            if hasattr(module, "Client"):
                self.enterContext(unittest.mock.patch.object(module, "Client", AsyncFacade))
        case.setUp(self)

    left_out = {name: None for name in LEFT_OUT if hasattr(case, name)}
    return type(f"Async{case.__name__}", (case,),
                {"setUp": set_up, "__module__": __name__, **left_out})


CASES = {}
for module in (test_calls, test_close, test_errors, test_feed, test_gates, test_holds, test_lists,
               test_operators, test_restarts, test_rules, test_streams, test_touch, test_usage):
    for case in vars(module).values():
        is_case = isinstance(case, type) and issubclass(case, unittest.TestCase)
        if is_case and case.__module__ == module.__name__ and case is not test_close.Fork:
            CASES[f"Async{case.__name__}"] = with_async_client(case)
globals().update(CASES)
del case, module
