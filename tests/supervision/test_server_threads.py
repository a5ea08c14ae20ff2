"""Stacks that a process writes by itself, read from outside."""

import faulthandler
import os
import threading

from agentcore.supervision.server_threads import SHOW_STACK, ServerThreads

FILE = "/módulos/工具/😀/halt.py"


def test_stack_names_files_and_functions_in_letters_of_any_script():
    read, write = os.pipe()
    os.set_blocking(read, False)
    names: dict = {}
    exec(compile("def anhält(look, thread):\n    return look(thread)\n", FILE, "exec"), names)
    faulthandler.register(SHOW_STACK, file=write, all_threads=False)
    try:
        stack = names["anhält"](ServerThreads(os.getpid(), read).read_stack, threading.get_native_id())
    finally:
        faulthandler.unregister(SHOW_STACK)
        os.close(read)
        os.close(write)
    assert (FILE, "2", "anhält") in stack
