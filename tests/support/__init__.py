"""What tests share, in one place.

- `waiting.wait_until(condition)`: wait for a condition, at most 30 s.
- `servers`: the fixtures `server` and `host` start what the test file describes as `SERVER` or `HOST` (the keyword
  arguments of `agentcore_client` and `agentcore_host`), for one test. `shared_server` and `shared_host` start it once
  for all tests of the file, which must not change it; such tests run in the event loop of their file.
- `command_line.run_command(...)`: a command of agentcore in the process of the test. Terminals, signals and servers as
  processes: `tests.forking`, which copies a process that has imported everything already.
- `provider`: a provider of models that plays replies (`provider`), and a server that asks it (`open_talk`).
- `certificates.one_certificate`: TLS trusts one certificate in place of the system's, which cost 20 ms to read.
- `pages.PagePool`: browser pages that are reset and used again; `ui.page()` of `tests/webui` takes them from there.
"""
