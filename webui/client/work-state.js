/** True while something runs: a call, or the answer of a model. */
import {client} from './client.js';
import {Soon} from '../base/throttle.js';
import {Store} from '../base/store.js';

/** Work that ends sooner is not reported: the emergency stop would only flicker. */
const REPORTED_AFTER_MS = 400;

class WorkState extends Store {
  constructor() {
    super();
    this.isBusy = false;
    /** Ids of running calls. @type {Set<string>} */
    this._calls = new Set();
    /** Ids of the chats in which a model answers. @type {Set<string>} */
    this._chats = new Set();
    /** The changes that were reported while the lists are loaded, which may be older. @type {(() => void)[] | null} */
    this._during = null;
    this._reporting = new Soon(() => this._report(), REPORTED_AFTER_MS);
    client.on('call.started', ({callId}) => this._change(() => this._calls.add(callId)));
    client.on('call.finished', ({callId}) => this._change(() => this._calls.delete(callId)));
    for (const type of ['session.message', 'session.content']) client.on(type, ({sessionId, thread}) => { if (!thread) this._change(() => this._chats.add(sessionId)); });
    for (const type of ['session.finished', 'session.deleted']) client.on(type, ({sessionId, thread}) => { if (!thread) this._change(() => this._chats.delete(sessionId)); });
    client.on('events.reset', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  /** Load what events do not tell: what was running before. */
  async load() {
    /** @type {(() => void)[]} */
    const during = this._during = [];
    try {
      const [{calls}, {sessions}] = await Promise.all([client.get('/api/calls/on-the-way'), client.get('/api/sessions?limit=50')]);
      if (during !== this._during) return; // a newer request is in flight
      const running = calls.filter((/** @type {{state: string}} */ {state}) => state === 'running');
      this._calls = new Set(running.map((/** @type {{call_id: string}} */ {call_id}) => call_id));
      this._chats = new Set(sessions.flatMap((/** @type {{sessionId: string, isRunning: boolean}} */ {sessionId, isRunning}) => (isRunning ? [sessionId] : [])));
      for (const change of during) change();
      this._reporting.ask();
    } catch {
      // the connection state shows that the server is unreachable; reconnecting loads this again
    }
    if (during === this._during) this._during = null;
  }

  /** @param {() => void} change */
  _change(change) {
    change();
    this._during?.push(change);
    this._reporting.ask();
  }

  _report() {
    const isBusy = this._calls.size + this._chats.size > 0;
    if (isBusy === this.isBusy) return;
    this.isBusy = isBusy;
    this.notify();
  }
}

export const workState = new WorkState();
