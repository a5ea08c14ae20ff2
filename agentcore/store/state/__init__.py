"""The state folder: its lock, its private files, the token, and the running server."""

from agentcore.store.state.api_token import TOKEN_VARIABLE, read_token
from agentcore.store.state.lock import is_locked
from agentcore.store.state.log_file import LogFile, log_files
from agentcore.store.state.loop_report import LoopReport, read_loop_report
from agentcore.store.state.private_file import (
    create_private_file,
    make_private_folder,
    read_private_file,
    write_private_file,
)
from agentcore.store.state.server_info import ServerInfo
from agentcore.store.state.state_dir import (
    STATE_DIR_VARIABLE,
    StateDir,
    find_running_server,
    find_server_at,
    locate_state_dir,
    read_server_info,
    write_open_file,
)
from agentcore.store.state.state_errors import RecordUnreadableError, StateLockedError
from agentcore.store.state.stored_files import StoredFiles
