/** Whether everything was stopped, for whoever shows it. */
import {client} from './client.js';
import {Store} from '../base/store.js';

class StopState extends Store {
  constructor() {
    super();
    this.isStopped = false;
    client.on('stop.changed', ({stopped}) => this._set(stopped));
    client.on('events.reset', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  async load() {
    try {
      this._set((await client.get('/api/stop')).stopped);
    } catch {
      // the connection's own state tells that the server is away, and its return loads this again
    }
  }

  /** End everything. @returns {Promise<{calls: number, resources: number, rejected: number}>} */
  async stop() {
    const ended = await client.post('/api/stop');
    this._set(true);
    return ended;
  }

  /** @param {boolean} isStopped */
  _set(isStopped) {
    if (isStopped === this.isStopped) return;
    this.isStopped = isStopped;
    this.notify();
  }
}

export const stopState = new StopState();
