/** A notification of the desktop when something begins to wait while nobody looks at the page: if a person wants that. */
import {approvals} from '../frame/pending.js';
import {t} from '../../base/i18n.js';
import {Store} from '../../base/store.js';

const KEY = 'agentcore.notices';
const TAG = 'agentcore.approvals';

class DesktopNotices extends Store {
  constructor() {
    super();
    /** Whether something began to wait while nobody looked: then it is worth to ask whether a notice is wanted. */
    this._wasMissed = false;
    this._count = 0;
    /** Kept, for to ask for it is a way to another process and back. @type {NotificationPermission} */
    this._permission = permission();
    /** @type {Notification | null} */
    this._shown = null;
    approvals.subscribe(() => this._onChange());
    // a person may have changed it in the browser's own settings, or in the address bar
    window.addEventListener('focus', () => this._readPermission());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this._close(); });
  }

  /** Whether this browser can show any, and was not told never to. */
  get isPossible() {
    return this._permission !== 'denied';
  }

  /** Whether they are shown. */
  get isOn() {
    return this._permission === 'granted' && localStorage.getItem(KEY) === 'yes';
  }

  /** Whether a person is to be asked: once, and only after something was missed. */
  get isQuestion() {
    return this._wasMissed && this.isPossible && localStorage.getItem(KEY) === null;
  }

  /** Take the person's word, which is remembered in this browser. @param {boolean} isWanted */
  async choose(isWanted) {
    localStorage.setItem(KEY, isWanted ? 'yes' : 'no');
    this.notify();
    if (isWanted && this._permission === 'default') await Notification.requestPermission();
    this._readPermission();
  }

  _readPermission() {
    const before = this._permission;
    this._permission = permission();
    if (this._permission !== before) this.notify();
  }

  _onChange() {
    const before = this._count;
    this._count = approvals.total;
    if (this._count === 0) return this._close();
    if (this._count <= before || !document.hidden) return;
    this._wasMissed = true;
    this.notify();
    if (this.isOn) this._show();
  }

  _show() {
    // how much waits, and not what: anybody may see the desktop
    this._shown = new Notification('agentcore', {body: t('approval.waiting', {n: this._count}), tag: TAG, icon: '/static/icon.svg'});
    this._shown.addEventListener('click', () => {
      window.focus();
      this._close();
    });
  }

  _close() {
    this._shown?.close();
    this._shown = null;
  }
}

/** Whether this page may show notices; where the browser has none, it is denied. */
function permission() {
  return 'Notification' in window ? Notification.permission : 'denied';
}

export const desktopNotices = new DesktopNotices();
