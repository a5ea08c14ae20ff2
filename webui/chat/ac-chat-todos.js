import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import {isDone} from '../results/call-display.js';
import {todoText} from '../results/ac-todo-list.js';
import '../ui/ac-icon.js';

/** The to-do list of the agent in this chat, with its progress. */
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
    ac-todo-list { position: relative; display: block; padding: 0 var(--ac-space-3) var(--ac-space-3); max-height: 12rem; overflow: auto; }
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
        <summary><ac-icon name="list"></ac-icon><span>${current ? todoText(current) : t('chat.todosDone')}</span>
          <span class="count">${t('chat.todoCount', {done, all: this.todos.length})}</span><ac-icon name="chevron-up"></ac-icon></summary>
        <ac-todo-list .todos=${this.todos} label=${t('chat.todos')}></ac-todo-list>
      </details>`;
  }
}
customElements.define('ac-chat-todos', AcChatTodos);
