/** One chat: its stored messages, the events that follow them, and the actions of the user. */
import {ApiError, client} from '../../client/client.js';
import {Soon} from '../../base/throttle.js';
import {Store} from '../../base/store.js';
import {contextOf} from './message-context.js';
import {MessageQueue} from '../../queue/queue.js';
import {
  argumentsOf, endOf, findCall, isOver, newItem, stateOf, storedItem, storedItems, withCall, withChangedCall, withContent, withError, withNotice, withStored, withoutLive,
} from './items.js';

/**
 * @typedef {import('./items.js').ChatItem} ChatItem
 * @typedef {import('../sessions/session-list.js').Session} Session
 * @typedef {{text: string, status: 'pending' | 'in_progress' | 'completed'}} Todo
 * @typedef {{until?: number, reason: 'rate_limited' | 'loading' | 'unavailable' | 'reading', readTokens?: number, promptTokens?: number}} ModelWait
 * @typedef {import('../composer/ac-chat-tokens.js').TurnProgress} TurnProgress
 * @typedef {import('../../questions/ac-chat-question.js').Question} Question
 * @typedef {import('../../questions/ac-chat-question.js').Answer} Answer
 */

const PAGE = 20; // more than fits on a screen; any more would delay each change of chats
const PROGRESS_MS = 200; // the progress of calls is rendered this often, however many events arrive

export class Conversation extends Store {
  /** @param {string} id  `''`: a new chat */
  constructor(id) {
    super();
    this.id = id;
    /** @type {ChatItem[]} */
    this.items = [];
    /** @type {Partial<Session>} */
    this.session = {};
    /** @type {Todo[]} */
    this.todos = [];
    /** @type {Question | null} */
    this.question = null;
    /** The messages that wait for their turn. */
    this.queue = new MessageQueue(this._path(''), () => this.notify());
    this.isRunning = false;
    /** Until when the provider cannot answer. @type {ModelWait | null} */
    this.modelWait = null;
    /** How much of its limits the current or last turn has used. @type {TurnProgress | null} */
    this.turn = null;
    this.isStopping = false;
    this.hasEarlier = false;
    this.isLoaded = id === '';
    this.isLoadingEarlier = false;
    /** @type {ApiError | null} */
    this.error = null;
    /** @type {(() => void)[]} */
    this._ends = [];
    /** @type {any[]} Told by events while the stored state was loading. */
    this._unread = [];
    this._isLoading = false;
    /** @type {Promise<unknown>} The last message that was sent from here. */
    this._sent = Promise.resolve();
    this._notifyingSoon = new Soon(() => this.notify(), PROGRESS_MS);
    /** @type {Promise<void>} */
    this._loading = Promise.resolve();
  }

  /** True if a call waits for the user or for the client. */
  get hasWaiting() {
    return this.items.some(({calls}) => calls.some(({state}) => state === 'waiting'));
  }

  /** True if there is something to stop: an answer, or a call that is running or pending. */
  get isActive() {
    return this.isRunning || this.items.some(({calls}) => calls.some((call) => !isOver(call)));
  }

  /** Load the chat, and follow its events until `close`. */
  open() {
    if (this.id === '' || this._ends.length) return;
    const take = (/** @type {any} */ event) => this._take(event);
    this._ends = [
      client.on('session.*', take), client.on('call.*', take), client.on('approval.*', take),
      client.on('events.reset', () => void this.load()),
      client.on('connection', (connection) => { if (connection === 'open' && this.error) void this.load(); }),
    ];
    void this.load();
  }

  /** Wait until the stored state is loaded; throw the error if that failed. */
  async whenLoaded() {
    await this._loading;
    if (this.error) throw this.error;
  }

  close() {
    this._notifyingSoon.end();
    for (const end of this._ends) end();
    this._ends = [];
  }

  /**
   * Load the newest messages and the state of the session. Loads run one at a time: a late response would overwrite the newer
   * state of a later load.
   */
  load() {
    this._loading = this._loading.then(() => this._load());
    return this._loading;
  }

  async _load() {
    this._isLoading = true;
    const before = this.items;
    const unnumbered = before.filter(({number}) => number === null).length;
    try {
      const [page] = await Promise.all([client.get(this._path(`/messages?limit=${Math.max(PAGE, unnumbered + 10)}`)), this.queue.load()]);
      // requested after the messages: the events since `page.eventId` lead from there to the current state
      this._takeSession(await client.get(this._path('')));
      if (!this.isLoaded) this.hasEarlier = page.hasMore;
      this.items = withStored(this._itemsToMerge(before), storedItems(page.items));
      if (page.streaming && this.isRunning) this.items = [...this.items, newItem({role: 'assistant', ...page.streaming, isLive: true})];
      this.modelWait = page.modelWait ?? null;
      this.isLoaded = true;
      this.error = null;
      this._unread = this._unread.filter((event) => isNewer(event.id, page.eventId));
    } catch (error) {
      this.error = /** @type {ApiError} */ (error);
      if (this.isLoaded) this._unread = []; // they were applied as they arrived
    }
    this._isLoading = false;
    const unread = this._unread;
    this._unread = [];
    for (const event of unread) this._fold(event);
    this.notify();
  }

  /**
   * Return the items from before a load, for the stored ones to be merged into: later changes are applied again from the unread
   * events, except for messages that are being sent.
   * @param {ChatItem[]} before
   */
  _itemsToMerge(before) {
    if (!this.isLoaded) return [];
    const keys = new Set(this.items.map(({key}) => key));
    const sent = this.items.filter((item) => item.isSending && !before.includes(item));
    return [...before.filter(({isLive, isSending, key}) => !isLive && (!isSending || keys.has(key))), ...sent];
  }

  /** Load the messages before the first loaded one. */
  async loadEarlier() {
    if (!this.hasEarlier || this.isLoadingEarlier) return;
    this.isLoadingEarlier = true;
    const loading = this._loading.then(() => this._loadEarlier());
    this._loading = loading.catch(() => {});
    try {
      await loading;
    } finally {
      this.isLoadingEarlier = false;
      this.notify();
    }
  }

  async _loadEarlier() {
    const first = this.items.find(({number}) => number !== null)?.number;
    if (first === undefined) return;
    const {items, hasMore} = await client.get(this._path(`/messages?limit=${PAGE}&before=${first}`));
    this.items = [...storedItems(items), ...this.items];
    this.hasEarlier = hasMore && items.length > 0;
  }

  // -- actions of the user -------------------------------------------------------------------------------------

  /**
   * Send a message; while something is running it waits for its turn, or joins the current one.
   * @param {{text: string, when?: 'queue' | 'steer', attachments?: import('../../client/upload.js').Uploaded[]}} message
   */
  async send({text, when = 'queue', attachments = []}) {
    const ids = attachments.map(({artifactId}) => artifactId);
    const send = () => this._inOrder(async () => client.post(this._path('/messages'), {text, when, ...(ids.length ? {attachments: ids} : {}), ...await contextOf(this.id)}));
    if (this.isActive) return this.queue.add({text, when, attachments: ids}, send);
    await this._say({text, attachments}, async () => {
      const {state} = await send();
      if (state === 'started') return;
      this.items = this.items.filter(({isSending}) => !isSending); // another window was faster: the message is queued
      this.notify();
    });
  }

  /** Replace a message with another text; everything after it is removed. @param {number} number @param {string} text */
  async edit(number, text) {
    const before = this.items;
    const {attachments} = before.find((item) => item.number === number) ?? {};
    this.items = before.filter((item) => item.number !== null && item.number < number);
    await this._say({text, attachments}, () => client.post(this._path('/edit'), {number, text}), before);
  }

  /** Generate the last answer again; with `writesCalls`, the model writes its calls from now on. @param {{writesCalls?: boolean}} [how] */
  async retry({writesCalls = false} = {}) {
    const before = this.items;
    const last = before.findLastIndex(({role}) => role === 'user');
    this.items = before.slice(0, last + 1);
    this._start();
    await this._try(() => client.post(this._path(`/retry${writesCalls ? '?writesCalls=true' : ''}`), {}), before);
  }

  /** Stop the current answer. */
  async stop() {
    this.isStopping = true;
    this.notify();
    try {
      await client.post(this._path('/stop'), {});
    } finally {
      this.isStopping = false;
      this.notify();
    }
  }

  /** Call a tool as the user; the call stays in the chat. @param {string} tool @param {Record<string, unknown>} args */
  async command(tool, args) {
    await client.post(this._path('/command'), {tool, arguments: args});
  }

  /** Reject a pending call. @param {string} toolId */
  async reject(toolId) {
    await client.post(this._path('/reject'), {toolId});
    this._changeCall(toolId, (call) => (isOver(call) ? call : {...call, state: 'rejected'}));
    this.notify();
  }

  /** Answer a tool's question. @param {string} questionId @param {Answer} answer */
  async answer(questionId, answer) {
    await client.post(this._path('/answer'), {questionId, ...answer});
    if (this.question?.questionId === questionId) this.question = null;
    this.notify();
  }

  /** Send messages one after the other, so that they arrive in order. @template T @param {() => Promise<T>} send @returns {Promise<T>} */
  _inOrder(send) {
    const sent = this._sent.then(send);
    this._sent = sent.catch(() => {});
    return sent;
  }

  /** @param {Pick<ChatItem, 'text' | 'attachments'>} said @param {() => Promise<unknown>} send @param {ChatItem[]} [before]  the items to restore if it cannot be sent */
  async _say(said, send, before = this.items) {
    this.items = [...this.items, newItem({role: 'user', ...said, isSending: true})];
    this._start();
    await this._try(send, before);
  }

  _start() {
    this.isRunning = true;
    this.notify();
  }

  /** @param {() => Promise<unknown>} send @param {ChatItem[]} before */
  async _try(send, before) {
    try {
      await send();
    } catch (error) {
      this.items = before;
      this.isRunning = false;
      this.notify();
      throw error;
    }
  }

  // -- events of the server ------------------------------------------------------------------------------------

  /** @param {any} event */
  _take(event) {
    if (event.sessionId !== this.id) return;
    if (this._isLoading) this._unread.push(event);
    if (this._isLoading && !this.isLoaded) return;
    if (this._fold(event)) event.type === 'call.progress' ? this._notifyingSoon.ask() : this.notify();
  }

  /** @param {any} event @returns {boolean} whether it changes anything */
  _fold(event) {
    const parent = event.thread?.parentToolId;
    switch (event.type) {
      case 'session.message': this._onMessage(event, parent); break;
      case 'session.content': this._inThread(parent, (items) => withContent(items, event.content, event.time)); break;
      case 'session.thinking': this._inThread(parent, (items) => withContent(items, event.content, event.time, 'thinking')); break;
      case 'session.modelWait': if (!parent) this.modelWait = event.wait; break;
      case 'session.progress': this.turn = event.turn; break;
      case 'session.toolState': this._onToolState(event, parent); break;
      case 'session.queue': this.queue.take(event); break;
      case 'session.toolCall': this._inThread(parent, (items) => withCall(items, callOf(event), event.time)); break;
      case 'session.toolResult': this._onResult(event.tool_result ?? event); break;
      case 'session.rewound': this.items = this.items.filter(({number, isSending}) => isSending || (number !== null && number < event.number)); break;
      case 'session.compacted': this._onCompacted(event, parent); break;
      case 'session.error': this._onError(event.error, event.time, parent); break;
      case 'session.finished': if (!parent) this._onFinished(event); break;
      case 'session.todos': this.todos = event.todos ?? []; break;
      case 'session.question': this.question = questionOf(event); break;
      case 'session.changed': Object.assign(this.session, changesOf(event)); break;
      case 'approval.requested': this._onHostCall(event, {state: 'waiting'}); break;
      case 'approval.decided': this._onHostCall(event, {state: event.approved ? 'running' : 'rejected', answeredBy: event.by}); break;
      case 'call.started': this._onHostCall(event, {state: 'running'}); break;
      case 'call.progress': this._onHostCall(event, {progress: {fraction: event.fraction, message: event.message}}); break;
      default: return false;
    }
    return true;
  }

  /** Add a message in its stored form: the user's, perhaps from another page, or a notice, also in the thread of a sub-agent. @param {any} event @param {string} [parent] */
  _onMessage(event, parent) {
    if (parent) { this._changeCall(parent, (call) => ({...call, thread: withNotice(call.thread ?? [], event)})); return; }
    const {number, time, role = 'user', text, calls, error, thinking, attachments, page} = event;
    if (this.items.some((known) => known.number === number)) return;
    this.items = withoutLive(this.items);
    const item = storedItem({number, time, role, text, calls, error, thinking, attachments, page});
    const at = role === 'user' ? this.items.findIndex(({isSending}) => isSending) : -1;
    if (role === 'user') this.isRunning = true;
    this.items = at < 0 ? [...this.items, item] : this.items.with(at, {...item, key: this.items[at].key});
  }

  /** @param {string | undefined} parentToolId @param {(items: ChatItem[]) => ChatItem[]} change */
  _inThread(parentToolId, change) {
    if (!parentToolId) {
      this.isRunning = true;
      this.items = change(this.items);
    } else this._changeCall(parentToolId, (call) => ({...call, thread: change(call.thread ?? [])}));
  }

  /** Set the state of a call. One that runs again after an approval belongs to a turn that continues. @param {any} event @param {string} [parent] */
  _onToolState(event, parent) {
    const isOwn = this.items.some(({role, calls}) => role === 'notice' && calls.some(({toolId}) => toolId === event.toolId));
    if (event.state === 'running' && !parent && !isOwn) this.isRunning = true;
    this._changeCall(event.toolId, (call) => (isOver(call) ? call : {
      ...call, state: stateOf(event), callId: event.callId ?? call.callId,
      needsApproval: event.needsApproval ?? call.needsApproval, answeredBy: event.answeredBy ?? call.answeredBy,
    }));
  }

  /** @param {import('../../client/client.js').Envelope & {toolId: string}} result */
  _onResult(result) {
    // the end of the user's own call is not reported as the end of a turn
    if (this.items.some(({role, calls}) => role === 'notice' && calls.some(({toolId}) => toolId === result.toolId))) void this.load();
    this._changeCall(result.toolId, (call) => ({
      ...call, state: endOf(result), result, callId: result.callId ?? call.callId, progress: undefined, thread: call.thread && ended(call.thread),
    }));
  }

  /** @param {import('../../client/client.js').ErrorObject} error @param {number} time @param {string} [parent] */
  _onError(error, time, parent) {
    this._inThread(parent, (items) => withError(items, error, time));
  }

  /** Add a notice that the history was compacted; the user may have requested that, so it does not mean that a turn is running. @param {any} event @param {string} [parent] */
  _onCompacted({number, time, compaction}, parent) {
    const notice = {number, time, compaction};
    if (parent) this._changeCall(parent, (call) => ({...call, thread: withNotice(call.thread ?? [], notice)}));
    else this.items = withNotice(this.items, notice);
  }

  /** @param {{waiting?: string[]}} event */
  _onFinished({waiting = []}) {
    this.isRunning = false;
    this.isStopping = false;
    for (const toolId of waiting) this._changeCall(toolId, (call) => (call.state === 'pending' ? {...call, state: 'waiting'} : call));
    this.items = withoutLive(this.items);
    void this.load();
  }

  /** Apply an event of the core about a call, which it identifies by its `callId`. @param {{callId: string}} event @param {Partial<import('./items.js').ChatCall>} values */
  _onHostCall({callId}, values) {
    const call = findCall(this.items, (one) => one.callId === callId);
    if (call && !isOver(call)) this._changeCall(call.toolId, (one) => ({...one, ...values}));
  }

  /** @param {string} toolId @param {(call: import('./items.js').ChatCall) => import('./items.js').ChatCall} change */
  _changeCall(toolId, change) {
    this.items = withChangedCall(this.items, toolId, change);
  }

  /** @param {any} session */
  _takeSession(session) {
    const {todos, question, isRunning, turn, ...rest} = session;
    this.session = rest;
    this.todos = todos ?? [];
    this.turn = turn ?? null;
    this.question = question ? questionOf(question) : null;
    this.isRunning = Boolean(isRunning);
  }

  /** @param {string} rest */
  _path(rest) {
    return `/api/sessions/${encodeURIComponent(this.id)}${rest}`;
  }
}

/** Return the thread of a sub-agent after its call has ended: calls that were still open are cancelled. @param {ChatItem[]} thread @returns {ChatItem[]} */
function ended(thread) {
  return thread.map((item) => ({
    ...item, isLive: false,
    calls: item.calls.map((call) => (isOver(call) ? call : {...call, state: 'cancelled', thread: call.thread && ended(call.thread)})),
  }));
}

/** @param {any} event @returns {import('./items.js').ChatCall} */
function callOf(event) {
  const {tool_name, toolName = tool_name, arguments: given, toolId, kind, words, needsApproval, client} = event.tool_call ?? event;
  return {toolId, toolName, arguments: argumentsOf(given), kind, words, state: 'pending', needsApproval, client};
}

/** @param {any} event @returns {Question | null} */
function questionOf(event) {
  const {questionId, kind, text, askedBy, host, options, form, url, toolId} = event.question ?? event;
  return questionId && text ? {questionId, kind: kind ?? 'text', text, askedBy: askedBy ?? '', host: host ?? '', options: options ?? [], form, url, toolId} : null;
}

/** @param {any} event */
function changesOf({title, model, mode, agentId, host}) {
  return Object.fromEntries(Object.entries({title, model, mode, agentId, host}).filter(([, value]) => value !== undefined && value !== null));
}

/** True if an event came after another one; ids are `BOOT-NUMBER`. @param {string} id @param {string | undefined} other */
function isNewer(id, other) {
  if (!other) return true;
  const [[boot, number], [otherBoot, otherNumber]] = [id.split('-'), other.split('-')];
  return boot !== otherBoot || Number(number) > Number(otherNumber);
}
