/** The stop state: true if everything was stopped. */
import {client} from './client.js';
import {Store} from '../base/store.js';

class StopState extends Store {
  constructor() {
    super();
    this.isStopped = false;
    /** The number of requests and of `stop.changed` events; a response requested before the latest one is outdated. */
    this._news = 0;
    client.on('stop.changed', ({stopped}) => this._onTold(stopped));
    client.on('events.reset', () => void this.load());
    client.on('connection', (connection) => { if (connection === 'open') void this.load(); });
  }

  async load() {
    try {
      const news = ++this._news;
      const {stopped} = await client.get('/api/stop');
      if (news === this._news) this._set(stopped);
    } catch {
      // the connection state shows that the server is unreachable, and reconnecting loads this again
    }
  }

  /** Stop everything. @returns {Promise<{calls: number, resources: number, rejected: number}>} */
  async stop() {
    const ended = await client.post('/api/stop');
    this._set(true);
    return ended;
  }

  /** @param {boolean} isStopped */
  _onTold(isStopped) {
    this._news += 1;
    this._set(isStopped);
  }

  /** @param {boolean} isStopped */
  _set(isStopped) {
    if (isStopped === this.isStopped) return;
    this.isStopped = isStopped;
    this.notify();
  }
}

export const stopState = new StopState();
