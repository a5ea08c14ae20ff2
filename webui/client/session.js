/** The page's half of its session; the other half is a cookie that scripts cannot read. */

/** Where it is kept. */
export const KEY = 'agentcore.session';

/** Headers that show the session. @returns {Record<string, string>} */
export function sessionHeaders() {
  const value = localStorage.getItem(KEY);
  return value ? {'X-Agentcore-Session': value} : {};
}

/** The same for a WebSocket, which can carry no headers: the protocols that it offers. @returns {string[]} */
export function sessionProtocols() {
  const value = localStorage.getItem(KEY);
  return ['agentcore', ...(value ? [`agentcore.session.${value}`] : [])];
}

/** Whether there is a session to try. */
export function hasSession() {
  return localStorage.getItem(KEY) !== null;
}

/** Keep a session, or forget it. @param {string | null} value */
export function keepSession(value) {
  if (value === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, value);
}
