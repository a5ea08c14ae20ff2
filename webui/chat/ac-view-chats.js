import {LitElement, css, html, nothing} from 'lit';
import {Conversation} from './conversation/conversation.js';
import {draftOf, keepChoices, keepDraft, lastChoices} from './composer/drafts.js';
import {endedChats} from './sessions/ended-chats.js';
import {sessionList} from './sessions/session-list.js';
import {chatSetup, isAboutModels} from '../models/setup.js';
import {makePrompt} from './composer/prompts.js';
import {isCommand} from './composer/slash-commands.js';
import {FILES, FILE_BYTES, attachmentsOf, forgetPreviews} from './attachments/attachments.js';
import {FileDrop} from './attachments/file-drop.js';
import {listenForEscape} from './escape.js';
import {client} from '../client/client.js';
import {viewTitle} from '../base/view-title.js';
import './composer/ac-chat-choices.js';
import './composer/ac-chat-composer.js';
import './composer/ac-chat-tokens.js';
import '../models/ac-chat-providers.js';
import {loadMessages} from './ac-chat-conversation.js';
import './sessions/ac-chat-sessions.js';
import '../ui/overlay/ac-dialog.js';
import '../ui/ac-icon.js';
import {Localized, formatBytes, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {href, navigate} from '../base/router.js';
import {base, buttons} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import {toolList} from '../client/tool-list.js';

const TOUCH = matchMedia('(hover: none)');
const NEW = '#/chats';
const WIDE = matchMedia('(min-width: 64rem)');

/**
 * The view of chats: the list of them, and the one that the URL names, else a new one.
 * @slot title - additional content above a chat
 * @slot context - what is sent with the next message, shown above the message box
 */
export class AcViewChats extends Localized(LitElement) {
  static properties = {
    path: {attribute: false},
    query: {attribute: false},
    _draft: {state: true},
    _isSending: {state: true},
    _showsProviders: {state: true},
    _showsSystem: {state: true},
    _refused: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-rows: minmax(0, 1fr); height: 100%; }
    :host(.wide) { grid-template-columns: 17rem minmax(0, 1fr); }
    .side { min-height: 0; border-inline-end: 1px solid var(--ac-border); }
    .page { position: relative; display: flex; flex-direction: column; min-height: 0; min-width: 0; }
    .title { display: flex; align-items: center; gap: var(--ac-space-2); min-height: 3rem; padding: var(--ac-space-1) var(--ac-space-4); border-bottom: 1px solid var(--ac-border); }
    .title h1 { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: var(--ac-text-m); letter-spacing: 0; font-weight: var(--ac-weight-medium); }
    .bottom { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); width: 100%; max-width: 50rem; margin-inline: auto; padding: 0 var(--ac-space-5) var(--ac-space-4); }
    .warning { display: flex; align-items: center; gap: var(--ac-space-2); color: var(--ac-warn); font-size: var(--ac-text-s); padding-inline: var(--ac-space-2); }
    .drop { position: absolute; inset: var(--ac-space-2); z-index: 3; display: grid; place-content: center; justify-items: center; gap: var(--ac-space-2); border: 2px dashed var(--ac-accent); border-radius: var(--ac-radius-l); background: color-mix(in srgb, var(--ac-surface) 88%, var(--ac-accent)); text-align: center; pointer-events: none; }
    .drop ac-icon { width: 2rem; height: 2rem; color: var(--ac-accent); }
    .bottom > ac-chat-error { position: relative; max-height: 45dvh; overflow: auto; }
    .meanwhile { padding-inline: var(--ac-space-2); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    ac-dialog.system::part(dialog) { width: min(46rem, calc(100vw - 2 * var(--ac-space-4))); }
    dialog.drawer { width: 20rem; max-width: 88vw; height: 100dvh; max-height: none; margin: 0; padding: 0; border: 0; border-inline-end: 1px solid var(--ac-border); background: var(--ac-bg); color: inherit; }
    dialog.drawer::backdrop { background: var(--ac-scrim); }
    @media (max-height: 30rem) { .title { min-height: 2.25rem; padding-block: 0; } .bottom { gap: var(--ac-space-1); padding-bottom: var(--ac-space-1) !important; } .meanwhile { display: none; } }
    @media (hover: none) { .meanwhile { display: none; } }
    @media (max-width: 48rem) { .title { padding-inline: var(--ac-space-2); } .bottom { padding: 0 var(--ac-space-3) var(--ac-space-3); } }
  `];

  constructor() {
    super();
    /** @type {string[]} */
    this.path = [];
    this.query = new URLSearchParams();
    this._draft = '';
    this._isSending = false;
    /** Changes of a chat that the server has not answered yet; messages wait for them. @type {Promise<unknown>} */
    this._changing = Promise.resolve();
    /** The creation of the chat, while the server has not answered it. @type {Promise<Conversation> | null} */
    this._beginning = null;
    /** The first message of a chat, back in the message box because its mode waits for confirmation. */
    this._firstMessage = '';
    /** A plan that the user approved, whose mode waits for confirmation. @type {{chat: Conversation, mode: string, text: string} | null} */
    this._approvedPlan = null;
    this._showsProviders = false;
    this._showsSystem = false;
    this._wasFocused = false;
    /** True if the user has just started a new chat: its message box is to be focused. */
    this._isNew = false;
    /** True if the dialog of providers was closed for the approval view and should open again afterwards. */
    this._returnsToProviders = false;
    /** The error of a refused message, if another model would fix it. @type {import('../client/client.js').ApiError | null} */
    this._refused = null;
    this._choices = lastChoices();
    this._chat = new Conversation('');
    /** The user's messages in this chat: a function, as they are needed only when the user browses them, not for each chunk of an answer. */
    this._history = () => this._chat.items.filter(({role}) => role === 'user').map(({text}) => text);
    this._endChat = () => {};
    this._drop = new FileDrop(this, (files) => this._attached.add(files));
    new Listening(this, () => {
      const resize = () => this.requestUpdate();
      WIDE.addEventListener('change', resize);
      return [
        () => WIDE.removeEventListener('change', resize), chatSetup.subscribe(() => this._onSetup()), toolList.subscribe(resize), sessionList.subscribe(resize),
        client.on('connection', resize), listenForEscape(this, (event) => this._onEscape(event)),
      ];
    });
    this.addEventListener('click', (event) => this._onClick(event));
    for (const name of ['ac-open-providers', 'ac-use-model', 'ac-open-system', 'ac-retry', 'ac-continue', 'ac-write-calls', 'ac-edit', 'ac-reject', 'ac-answer', 'ac-prompt', 'ac-insert']) {
      this.addEventListener(name, (event) => this._onAction(/** @type {CustomEvent} */ (event)));
    }
  }

  connectedCallback() {
    super.connectedCallback();
    void chatSetup.load();
    void toolList.load();
    if (this.hasUpdated) this._follow(this._chat);
  }

  disconnectedCallback() {
    endedChats.open('');
    this._endChat();
    super.disconnectedCallback();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('path')) return;
    const id = this.path[0] ?? '';
    if (this.hasUpdated && id === this._chat.id) return;
    this._isNew = this.hasUpdated && !id;
    this._draft = draftOf(id);
    this._refused = null;
    this._follow(new Conversation(id));
  }

  updated() {
    this._focusAtFirst();
    this._focusNew();
    this.classList.toggle('wide', WIDE.matches);
    viewTitle.say(this._chat.session.title ?? '');
  }

  /** Focus the message box of a new chat, unless the focus is elsewhere or would open an on-screen keyboard. */
  _focusAtFirst() {
    if (this._wasFocused || !chatSetup.isLoaded || !this._mayChat || this._chat.id) return;
    this._wasFocused = true;
    if (document.activeElement === document.body && !TOUCH.matches) void this.updateComplete.then(() => this._composer.focus());
  }

  /** Focus the message box after the user started a new chat. */
  _focusNew() {
    if (!this._isNew) return;
    this._isNew = false;
    if (this._mayChat && !TOUCH.matches) void this.updateComplete.then(() => this._composer?.focus());
  }

  /** Handle a click on a link to a new chat, which changes no address if one is open already. @param {Event} event */
  _onClick(event) {
    if (this._chat.id || !event.composedPath().some((part) => part instanceof HTMLAnchorElement && part.getAttribute('href') === NEW)) return;
    this._isNew = true;
    this.requestUpdate();
  }

  /** @param {Conversation} chat */
  _follow(chat) {
    this._endChat();
    this._chat = chat;
    this._firstMessage = '';
    endedChats.open(chat.id);
    const end = chat.subscribe(() => {
      this._carryOut();
      this.requestUpdate();
    });
    chat.open();
    this._endChat = () => {
      end();
      chat.close();
    };
  }

  render() {
    const list = html`<ac-chat-sessions selected=${this._chat.id}></ac-chat-sessions>`;
    return html`
      ${WIDE.matches ? html`<div class="side">${list}</div>` : html`<dialog class="drawer" aria-label=${t('chat.list')} @click=${this._closeDrawer}>${list}</dialog>`}
      <div class="page">${this._renderTitle()}<ac-chat-conversation .chat=${this._chat} .model=${this._model} ?alone=${!WIDE.matches}></ac-chat-conversation>${this._renderBottom()}${this._drop.isOver ? this._renderDrop() : nothing}</div>
      ${this._renderProviders()}${this._renderSystem()}`;
  }

  _renderTitle() {
    const title = this._chat.id ? this._chat.session.title || sessionList.find(this._chat.id)?.title || t('chat.untitled') : t('chat.new');
    if (WIDE.matches) return html`<h1 class="visually-hidden">${title}</h1><slot name="title"></slot>`;
    return html`
      <header class="title">
        <button class="quiet icon" aria-label=${t('chat.list')} @click=${() => this._drawer?.showModal()}><ac-icon name="history"></ac-icon></button>
        <h1 dir="auto">${title}</h1>
        <a class="button quiet icon" href="#/chats" aria-label=${t('chat.new')}><ac-icon name="plus"></ac-icon></a>
        <slot name="title"></slot>
      </header>`;
  }

  _renderBottom() {
    const chat = this._chat;
    if (chat.error && !chat.isLoaded) return nothing;
    const {agentId = '', model = '', mode = '', host} = chat.id ? chat.session : this._choices;
    return html`
      <div class="bottom">
        ${this._refused ? html`<ac-chat-error choose .error=${this._refused}></ac-chat-error>` : nothing}
        ${this._renderTodos()}
        ${mode === 'allow' ? html`<p class="warning"><ac-icon name="shield-alert"></ac-icon>${t('chat.allowWarning')}</p>` : nothing}
        ${this._renderQueue()}
        ${this._isWritingMeanwhile ? html`<p class="meanwhile">${t(chat.hasWaiting ? 'queue.hintWaiting' : 'queue.hint')}</p>` : nothing}
        <slot name="context"></slot>
        <ac-chat-composer .text=${this._draft} .agentId=${agentId} .history=${this._history} .mayChat=${this._mayChat} .attachments=${this._attached}
          ?asked=${chat.question?.kind === 'text'} ?busy=${chat.isActive} ?stopping=${chat.isStopping} ?sending=${this._isSending}
          @ac-draft=${this._onDraft} @ac-send=${this._onSend} @ac-command=${this._onCommand} @ac-take-prompt=${this._onTakePrompt} @ac-reply=${this._onReply} @ac-stop=${() => this._try('chat.stopFailed', () => chat.stop())}>
          <ac-chat-choices slot="choices" data-agent=${agentId || 'default'} .model=${model} .agentId=${agentId} .mode=${mode} .host=${host} @ac-change=${this._onChoice}></ac-chat-choices>
          <ac-chat-tokens slot="choices" .usage=${chat.session.usage ?? null} .context=${chat.session.context ?? null} .turn=${chat.turn}></ac-chat-tokens>
        </ac-chat-composer>
      </div>`;
  }

  /** The plan of a chat in the mode `plan`, once the model has answered; else the model's to-do list. */
  _renderTodos() {
    const chat = this._chat;
    const {agentId = '', mode = ''} = chat.session;
    const isPlanning = (mode || chatSetup.agent(agentId)?.mode) === 'plan';
    const isWritten = chat.items.at(-1)?.role === 'assistant' && !chat.items.at(-1)?.error;
    if (!isPlanning || !isWritten || chat.isActive || chat.question) {
      if (!chat.todos.length) return nothing;
      void import('./ac-chat-todos.js');
      return html`<ac-chat-todos .todos=${chat.todos}></ac-chat-todos>`;
    }
    void import('./ac-chat-plan.js');
    return html`<ac-chat-plan .todos=${chat.todos} ?sending=${this._isSending} @ac-approve-plan=${this._onPlan}></ac-chat-plan>`;
  }

  _renderQueue() {
    const {queue} = this._chat;
    if (!queue.messages.length) return nothing;
    void import('../queue/ac-chat-queue.js');
    return html`
      <ac-chat-queue .messages=${queue.messages} ?paused=${queue.isPaused} @ac-resume=${() => this._try('queue.failed', () => queue.resume())}
        @ac-steer=${this._onQueued} @ac-change=${this._onQueued} @ac-remove=${this._onQueued}></ac-chat-queue>`;
  }

  /** True while the user writes a message and something is running: the message can be sent afterwards, or at once. */
  get _isWritingMeanwhile() {
    return Boolean(this._draft.trim()) && !isCommand(this._draft, toolList.tools) && this._chat.isActive && !this._chat.question;
  }

  _renderDrop() {
    return html`<div class="drop"><ac-icon name="paperclip"></ac-icon><strong>${t('chat.attach.drop')}</strong><span class="muted small">${t('chat.attach.bounds', {n: FILES, size: formatBytes(FILE_BYTES)})}</span></div>`;
  }

  _renderProviders() {
    return html`
      <ac-dialog .open=${this._showsProviders} heading=${t('models.providers')} @ac-close=${() => { this._showsProviders = false; }} @ac-show-approvals=${this._leaveForApprovals}>
        ${this._showsProviders ? html`<ac-chat-providers></ac-chat-providers>` : nothing}
        <button slot="actions" @click=${() => { this._showsProviders = false; }}>${t('ui.close')}</button>
      </ac-dialog>`;
  }

  _renderSystem() {
    return html`
      <ac-dialog class="system" .open=${this._showsSystem} heading=${t('chat.told.title')} @ac-close=${() => { this._showsSystem = false; }}>
        ${this._showsSystem ? html`<ac-chat-system .sessionId=${this._chat.id} .choices=${this._choices} .begin=${async () => (await this._beginQuietly()).id}
          @ac-changing=${(/** @type {CustomEvent<{done: Promise<unknown>}>} */ {detail}) => this._holdMessages(detail.done)}></ac-chat-system>` : nothing}
        <button slot="actions" @click=${() => { this._showsSystem = false; }}>${t('ui.close')}</button>
      </ac-dialog>`;
  }

  /** The model that the next message goes to; empty: none. */
  get _model() {
    const {agentId = '', model = ''} = this._chat.id ? this._chat.session : this._choices;
    return model || chatSetup.modelOf(agentId);
  }

  /** True if the user can write messages; in a chat that has messages also without a model, as the error then offers the list of models. */
  get _mayChat() {
    return !chatSetup.isLoaded || Boolean(chatSetup.isSetUp && (this._model || this._chat.items.length));
  }

  /** The attachments of the next message. */
  get _attached() {
    return attachmentsOf(this._chat.id);
  }

  get _composer() {
    return /** @type {import('./composer/ac-chat-composer.js').AcChatComposer} */ (this.renderRoot.querySelector('ac-chat-composer'));
  }

  get _conversation() {
    return /** @type {import('./ac-chat-conversation.js').AcChatConversation} */ (this.renderRoot.querySelector('ac-chat-conversation'));
  }

  /** @returns {HTMLDialogElement | null} */
  get _drawer() {
    return this.renderRoot.querySelector('dialog.drawer');
  }

  /** Close the drawer after a click beside the list, or on a link in it. @param {Event} event */
  _closeDrawer(event) {
    const isLink = event.composedPath().some((part) => part instanceof HTMLAnchorElement);
    if (isLink || event.target === event.currentTarget) this._drawer?.close();
  }

  /** @param {CustomEvent<{text: string}>} event */
  _onDraft({detail: {text}}) {
    if (text) void loadMessages();
    this._draft = text;
    keepDraft(this._chat.id, text);
  }

  /** @param {CustomEvent<{text: string, when?: 'queue' | 'steer'}>} event */
  async _onSend({detail: {text, when}}) {
    this._conversation.toNewest();
    const attachments = this._attached.take();
    await this._say(text, 'chat.sendFailed', async (chat) => {
      await chat.send({text, when, attachments});
      forgetPreviews(attachments);
    }, (id) => attachmentsOf(id).putBack(attachments));
  }

  /** Change, send or remove a queued message. @param {CustomEvent<{messageId: string, text: string}>} event */
  async _onQueued({type, detail: {messageId, text}}) {
    const {queue} = this._chat;
    await this._try('queue.failed', async () => {
      if (type === 'ac-remove') await queue.remove(messageId);
      else if (type === 'ac-steer') await queue.change(messageId, {when: 'steer'});
      else if (!await queue.change(messageId, {text})) {
        toast(t('queue.gone'), {kind: 'info'});
        if (!this._draft) this._composer.write(text); // keep what the user wrote
      }
      if (!queue.messages.length && type !== 'ac-change') this._composer.focus();
    });
  }

  /** Stop what is running on Escape, unless a closer element handles the key. @param {KeyboardEvent} event */
  _onEscape(event) {
    if (!this._chat.isActive || this._chat.isStopping) return;
    event.preventDefault();
    void this._try('chat.stopFailed', () => this._chat.stop());
  }

  /** @param {CustomEvent<{tool: string, args: Record<string, unknown>, text: string}>} event */
  async _onCommand({detail: {tool, args, text}}) {
    this._conversation.toNewest();
    await this._say(text, 'chat.commandFailed', (chat) => chat.command(tool, args));
  }

  /** Replace the command of a prompt with its text, unless the command was changed meanwhile. @param {CustomEvent<{tool: string, args: Record<string, unknown>, text: string}>} event */
  async _onTakePrompt({detail: {tool, args, text: command}}) {
    const chat = this._chat;
    try {
      const {text, leftOut} = await makePrompt(tool, args);
      if (chat === this._chat && this._draft.trim() === command) this._onDraft(new CustomEvent('ac-draft', {detail: {text}}));
      if (leftOut) toast(t('chat.promptLeftOut', {n: leftOut}));
    } catch (error) {
      this._tell('chat.promptFailed', error);
    }
  }

  /** Store the plan as the to-do list, and have the model carry it out, once the chosen mode is confirmed. @param {CustomEvent<{steps: string[], mode: string}>} event */
  async _onPlan({detail: {steps, mode}}) {
    const chat = this._chat;
    const text = [t(steps.length ? 'chat.plan.sent' : 'chat.plan.sentEmpty'), ...steps.map((step, at) => `${at + 1}. ${step}`)].join('\n');
    this._approvedPlan = {chat, mode, text};
    const change = sessionList.change(chat.id, {todos: steps.map((content) => ({content})), mode});
    this._holdMessages(change);
    await this._try('chat.plan.failed', async () => {
      chat.session = {...chat.session, ...await change};
      this._carryOut();
    });
  }

  /** Send what waits for the mode of the chat, once that holds: the first message of a chat in the mode `plan`, unless the user has changed it, or the one that an approved plan is carried out with. */
  _carryOut() {
    const {mode} = this._chat.session;
    if (mode === 'plan' && this._firstMessage && this._firstMessage === this._draft) void this._onSend(new CustomEvent('ac-send', {detail: {text: this._draft.trim()}}));
    if (mode === 'plan') this._firstMessage = '';
    const plan = this._approvedPlan;
    if (plan?.chat !== this._chat || mode !== plan.mode) return;
    this._approvedPlan = null;
    this._conversation.toNewest();
    void this._try('chat.sendFailed', () => plan.chat.send({text: plan.text})); // what is written in the message box stays there
  }

  /** @param {CustomEvent<{text: string}>} event */
  async _onReply({detail: {text}}) {
    const {question} = this._chat;
    if (question) await this._say(text, 'chat.answerFailed', (chat) => chat.answer(question.questionId, {text}));
  }

  /** Clear the message box at once, and restore its text if it could not be sent. @param {string} text @param {string} failed @param {(chat: Conversation) => Promise<void>} send @param {(id: string) => void} [undo]  called with the chat that the text goes back to; the user may have opened another one */
  async _say(text, failed, send, undo) {
    const [shown, beginning] = [this._chat, this._beginning];
    const from = shown.id || beginning;
    this._isSending = !from; // only the first message, which creates the chat, blocks further ones until the server responds
    this._refused = null;
    chatSetup.endChoice();
    this._onDraft(new CustomEvent('ac-draft', {detail: {text: ''}}));
    let chat = shown;
    try {
      chat = shown.id ? shown : await (beginning ?? this._begun());
      await this._changing;
      await send(chat);
    } catch (error) {
      const isTakenBack = !from && await this._takeBack(chat, /** @type {import('../client/client.js').ApiError} */ (error));
      const id = isTakenBack ? '' : chat.id;
      undo?.(id);
      if (id === this._chat.id) {
        this._onDraft(new CustomEvent('ac-draft', {detail: {text: joined(text, this._draft)}}));
        const {type} = /** @type {import('../client/client.js').ApiError} */ (error);
        if (type === 'confirmation_required' && this._chat.session.mode !== 'plan') this._firstMessage = this._draft;
      } else keepDraft(id, joined(text, draftOf(id)));
      this._tell(failed, error);
    }
    this._isSending = false;
  }

  /** Delete an empty chat that was created for a message which the server refused; return true if that was so. @param {Conversation} chat @param {import('../client/client.js').ApiError} error @returns {Promise<boolean>} */
  async _takeBack(chat, {type, status}) {
    const {id, items} = chat;
    if (!id || items.length || status < 400 || status >= 500 || type === 'confirmation_required') return false;
    if (chat === this._chat) {
      this._follow(new Conversation(''));
      navigate(href(['chats']), {replace: true});
    }
    try {
      await sessionList.remove(id);
    } catch {
      // it stays in the list, where it can be deleted; the refusal is reported either way
    }
    return true;
  }

  /** Have messages wait until the server has answered a change of the chat; if it fails, those that wait are not sent. @param {Promise<unknown>} change */
  _holdMessages(change) {
    const all = Promise.all([this._changing, change]);
    this._changing = all;
    const forget = () => { if (this._changing === all) this._changing = Promise.resolve(); };
    all.then(forget, forget);
  }

  /** Return the chat that is shown, after creating it on the server if it is new. */
  async _begun() {
    if (this._chat.id) return this._chat;
    this._beginning ??= this._create().finally(() => { this._beginning = null; });
    return this._beginning;
  }

  async _create() {
    const {mode, host, ...choices} = this._choices;
    const chosen = Object.entries(choices).filter(([, value]) => value);
    const {sessionId} = await sessionList.create({...Object.fromEntries(chosen), ...(host === undefined ? {} : {host})});
    this._choices = lastChoices();
    const chat = new Conversation(sessionId);
    this._follow(chat);
    navigate(href(['chats', sessionId]), {replace: true});
    await chat.whenLoaded();
    const change = mode ? sessionList.change(sessionId, {mode}) : Promise.resolve();
    // a mode that asks less may need the user's confirmation: the chat starts with the careful one, unless a plan is
    // wanted, and not an answer
    if (mode === 'plan') this._holdMessages(change);
    else await this._try('chat.changeFailed', () => change);
    return chat;
  }

  /** @param {CustomEvent<import('./composer/drafts.js').Choices>} event */
  _onChoice({detail}) {
    const change = this._choose(detail);
    this._holdMessages(change);
    return this._try('chat.changeFailed', () => change);
  }

  /** @param {import('./composer/drafts.js').Choices} choices */
  async _choose(choices) {
    // the mode of one chat says nothing about others, unless it was chosen for a new one
    const isForNew = Boolean(choices.mode) && !this._chat.id;
    if (choices.model || choices.agentId || isForNew) keepChoices({...lastChoices(), ...choices, ...(isForNew ? {} : {mode: lastChoices().mode})});
    if (this._chat.id) Object.assign(this._chat.session, await sessionList.change(this._chat.id, choices));
    else this._choices = {...this._choices, ...choices};
    this.requestUpdate();
  }

  /** Continue what the user started here and has now confirmed. */
  _onSetup() {
    const next = chatSetup.takeNext();
    if (next && 'use' in next) void this._useModel(next.use);
    else if (next && this._returnsToProviders) this._showsProviders = true;
    if (next) this._returnsToProviders = false;
    this.requestUpdate();
  }

  /** Use this model from now on, and retry what failed for lack of one. @param {string} model */
  _useModel(model) {
    return this._try('chat.changeFailed', async () => {
      const [chat, refused] = [this._chat, this._refused];
      await this._choose({model});
      chatSetup.endChoice();
      this._showsProviders = false;
      this._refused = null;
      await chatSetup.useByDefault(model);
      const failed = chat.items.at(-1)?.error;
      if (refused && (this._draft.trim() || this._attached.items.length)) await this._onSend(new CustomEvent('ac-send', {detail: {text: this._draft.trim()}}));
      else if (chat === this._chat && isAboutModels(failed?.type)) await chat.retry();
      else this._composer?.focus();
    });
  }

  /** Handle the events of messages and cards. @param {CustomEvent} event */
  _onAction({type, detail}) {
    const chat = this._chat;
    switch (type) {
      case 'ac-open-providers': this._showsProviders = true; break;
      case 'ac-use-model': void this._useModel(detail.model); break;
      case 'ac-open-system': void import('./system/ac-chat-system.js'); this._showsSystem = true; break;
      case 'ac-retry': void this._try('chat.retryFailed', () => chat.retry()); break;
      case 'ac-continue': void this._try('chat.sendFailed', () => chat.send({text: t('chat.continue')})); break;
      case 'ac-write-calls': void this._try('chat.retryFailed', () => chat.retry({writesCalls: true})); break;
      case 'ac-edit': void this._try('chat.sendFailed', () => chat.edit(detail.number, detail.text)); break;
      case 'ac-reject': chat.reject(detail.toolId).catch(detail.failed); break;
      case 'ac-answer': void this._try('chat.answerFailed', () => chat.answer(detail.questionId, detail.answer), detail.failed); break;
      case 'ac-prompt': this._composer.write(detail.text); break;
      case 'ac-insert': this._composer.write(this._draft.trim() ? `${this._draft.trimEnd()}\n\n${detail.text}` : detail.text); break;
    }
  }

  /** Create the chat, if it is new, without a message; the draft and its attachments stay. */
  async _beginQuietly() {
    const chat = await this._begun();
    keepDraft('', '');
    keepDraft(chat.id, this._draft);
    attachmentsOf(chat.id).putBack(attachmentsOf('').take());
    return chat;
  }

  /** Close the dialog, then show the approvals: they cannot be reached under a modal dialog, which restores the focus when it closes. @param {Event} event */
  async _leaveForApprovals(event) {
    event.stopPropagation();
    const dialog = /** @type {import('../ui/overlay/ac-dialog.js').AcDialog} */ (event.currentTarget);
    this._showsProviders = false;
    this._returnsToProviders = true;
    await this.updateComplete;
    await dialog.updateComplete;
    this.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {}, bubbles: true, composed: true}));
  }

  _showConfirmation() {
    toast(t('models.confirmKey'), {kind: 'info'});
    this.dispatchEvent(new CustomEvent('ac-show-approvals', {detail: {isForOne: true}, bubbles: true, composed: true}));
  }

  /** @param {string} failed @param {() => Promise<unknown>} work @param {() => void} [after] */
  async _try(failed, work, after) {
    try {
      await work();
    } catch (error) {
      after?.();
      this._tell(failed, error);
    }
  }

  /** @param {string} failed @param {unknown} error */
  _tell(failed, error) {
    const refusal = /** @type {import('../client/client.js').ApiError} */ (error);
    if (refusal.type === 'confirmation_required') this._showConfirmation();
    else if (isAboutModels(refusal.type)) void import('./messages/ac-chat-error.js').then(() => { this._refused = refusal; });
    else toastError(t(failed), error);
  }
}

/** Return a text that could not be sent, followed by what was written since. @param {string} text @param {string} draft */
function joined(text, draft) {
  return [text, draft].filter(Boolean).join('\n\n');
}

customElements.define('ac-view-chats', AcViewChats);
