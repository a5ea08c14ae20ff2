import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @type {Record<string, string>} */
const ICONS = {pending: 'circle', in_progress: 'arrow-right', completed: 'circle-check', done: 'circle-check', cancelled: 'ban'};

/** What the agent has set itself to do in this chat, and how far it is. */
export class AcChatTodos extends Localized(LitElement) {
  static properties = {todos: {attribute: false}};

  static styles = [base, css`
    details { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); background: var(--ac-surface); font-size: var(--ac-text-s); }
    summary { display: flex; align-items: center; gap: var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); cursor: pointer; list-style: none; border-radius: var(--ac-radius-l); }
    summary::-webkit-details-marker { display: none; }
    summary > span { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    summary .count { flex: none; color: var(--ac-text-muted); font-variant-numeric: tabular-nums; }
    summary > ac-icon:last-child { transition: rotate var(--ac-motion); color: var(--ac-text-muted); }
    details[open] summary > ac-icon:last-child { rotate: 180deg; }
    ul { display: grid; gap: var(--ac-space-1); padding: 0 var(--ac-space-3) var(--ac-space-3); max-height: 12rem; overflow: auto; }
    li { display: flex; gap: var(--ac-space-2); align-items: start; overflow-wrap: anywhere; }
    li ac-icon { margin-top: 0.15rem; color: var(--ac-text-muted); }
    li.completed, li.done, li.cancelled { color: var(--ac-text-muted); }
    li.completed ac-icon, li.done ac-icon { color: var(--ac-ok); }
    li.in_progress { font-weight: var(--ac-weight-medium); } li.in_progress ac-icon { color: var(--ac-accent); }
  `];

  constructor() {
    super();
    /** @type {any[]} */
    this.todos = [];
  }

  render() {
    if (!this.todos.length) return nothing;
    const done = this.todos.filter((todo) => isDone(todo)).length;
    const current = this.todos.find(({status}) => status === 'in_progress') ?? this.todos.find((todo) => !isDone(todo));
    return html`
      <details>
        <summary><ac-icon name="list"></ac-icon><span>${current ? textOf(current) : t('chat.todosDone')}</span>
          <span class="count">${t('chat.todoCount', {done, all: this.todos.length})}</span><ac-icon name="chevron-up"></ac-icon></summary>
        <ul aria-label=${t('chat.todos')}>${this.todos.map((todo) => html`<li class=${todo.status ?? 'pending'}><ac-icon name=${ICONS[todo.status] ?? 'circle'}></ac-icon><span>${textOf(todo)}</span></li>`)}</ul>
      </details>`;
  }
}
customElements.define('ac-chat-todos', AcChatTodos);

/** @param {any} todo */
const isDone = ({status}) => status === 'completed' || status === 'done' || status === 'cancelled';

/** @param {any} todo @returns {string} */
const textOf = (todo) => todo.text ?? todo.content ?? todo.title ?? '';
