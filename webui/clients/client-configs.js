/** The most common clients, and the configuration format in which each accepts an MCP server over HTTP. */

/**
 * @typedef {object} KnownClient
 * @property {string} id  its name in `agentcore connect`
 * @property {string} title
 * @property {(url: string, key: string) => string} block
 */

const NAME = 'agentcore';

/** @param {unknown} value */
const json = (value) => JSON.stringify(value, null, 2);

/** @param {string} key */
const headers = (key) => ({Authorization: `Bearer ${key}`});

/** @type {KnownClient[]} */
export const CLIENTS = [
  {id: 'claude-code', title: 'Claude Code', block: (url, key) => json({mcpServers: {[NAME]: {type: 'http', url, headers: headers(key)}}})},
  {id: 'cursor', title: 'Cursor', block: (url, key) => json({mcpServers: {[NAME]: {url, headers: headers(key)}}})},
  {id: 'windsurf', title: 'Windsurf', block: (url, key) => json({mcpServers: {[NAME]: {serverUrl: url, headers: headers(key)}}})},
  {id: 'vscode', title: 'VS Code', block: (url, key) => json({servers: {[NAME]: {type: 'http', url, headers: headers(key)}}})},
  {id: 'gemini', title: 'Gemini CLI', block: (url, key) => json({mcpServers: {[NAME]: {httpUrl: url, headers: headers(key)}}})},
  {id: 'qwen', title: 'Qwen Code', block: (url, key) => json({mcpServers: {[NAME]: {httpUrl: url, headers: headers(key)}}})},
  {id: 'cline', title: 'Cline', block: (url, key) => json({mcpServers: {[NAME]: {type: 'streamableHttp', url, headers: headers(key)}}})},
  {id: 'opencode', title: 'opencode', block: (url, key) => json({mcp: {[NAME]: {type: 'remote', url, enabled: true, headers: headers(key)}}})},
  {id: 'codex', title: 'Codex', block: (url) => `[mcp_servers.${NAME}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "AGENTCORE_MCP_KEY"`},
];
