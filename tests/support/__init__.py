"""What tests share, in one place.

- `waiting.wait_until(condition)`: wait for a condition, at most 30 s.
- `servers`: the fixtures `server` and `host` start what the test file describes as `SERVER` or `HOST` (the keyword
  arguments of `agentcore_client` and `agentcore_host`), for one test. `shared_server` and `shared_host` start it once
  for all tests of the file, which must not change it; such tests run in the event loop of their file.
- `pages.PagePool`: browser pages that are reset and used again; `ui.page()` of `tests/webui` takes them from there.
"""
