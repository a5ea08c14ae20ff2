"""The log in the state folder is bounded, private, and never in the way."""

import json
import stat
import threading

import pytest

from agentcore.store.state.log_file import FILE_BYTES, FILES_KEPT, LINE_BYTES, LogFile, log_files

pytestmark = [pytest.mark.spec("M8"), pytest.mark.spec("S7")]


def line(number: int, size: int = 1000) -> bytes:
    return json.dumps({"event": "e", "number": number, "text": "x" * size}).encode() + b"\n"


def numbers(tmp_path):
    found = [path.read_bytes() for path in log_files(tmp_path) if path.exists()]
    return [json.loads(each)["number"] for each in b"".join(found).splitlines()]


def test_files_are_bounded_and_the_newest_lines_stay_in_order(tmp_path):
    log = LogFile(tmp_path)
    count = FILES_KEPT * FILE_BYTES // 1000 + 2000
    for number in range(count):
        log.write(line(number))
    log.close()
    files = [path for path in log_files(tmp_path) if path.exists()]
    assert len(files) == FILES_KEPT
    assert all(path.stat().st_size <= FILE_BYTES for path in files)
    kept = numbers(tmp_path)
    assert kept == list(range(kept[0], count))
    assert len(kept) > (FILES_KEPT - 1) * FILE_BYTES // 1100


def test_line_that_is_too_long_is_cut_and_still_json(tmp_path):
    log = LogFile(tmp_path)
    log.write(line(1) + line(2, 10 * LINE_BYTES) + line(3))
    log.write(json.dumps({"event": "e", "number": 4, "list": ["x" * 100] * LINE_BYTES}).encode() + b"\n")
    log.close()
    written = [json.loads(each) for each in log_files(tmp_path)[-1].read_bytes().splitlines()]
    assert [each.get("number") for each in written] == [1, 2, 3, None]
    assert written[1]["text"].endswith("more characters]")
    assert written[3]["left_out"] > LINE_BYTES


def test_files_are_for_their_owner_alone_and_no_link_is_followed(tmp_path):
    target = tmp_path / "elsewhere"
    (tmp_path / "logs").mkdir()
    log_files(tmp_path)[-1].symlink_to(target)
    log = LogFile(tmp_path)
    log.write(line(1))
    assert not target.exists()
    log_files(tmp_path)[-1].unlink()
    log.write(line(2))
    log.close()
    assert stat.S_IMODE(log_files(tmp_path)[-1].stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert numbers(tmp_path) == [2]


def test_lines_of_many_threads_stay_whole(tmp_path):
    log = LogFile(tmp_path)
    threads = [threading.Thread(target=lambda: [log.write(line(n, 10)) for n in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    assert sorted(numbers(tmp_path)) == sorted(list(range(200)) * 8)
