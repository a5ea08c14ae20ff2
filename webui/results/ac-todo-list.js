import {LitElement, css, html} from 'lit';
import {Localized, t} from '../base/i18n.js';
import {base} from '../ui/styles.js';
import '../ui/ac-icon.js';

/** @type {Record<string, string>} */
const ICONS = {pending: 'circle', in_progress: 'arrow-right', completed: 'circle-check', done: 'circle-check', cancelled: 'ban'};

/** To-do items with their status. */
export class AcTodoList extends Localized(LitElement) {
  static properties = {
    todos: {attribute: false},
    label: {},
  };

  static styles = [base, css`
    ul { display: grid; gap: var(--ac-space-1); font-size: var(--ac-text-s); }
    li { display: flex; gap: var(--ac-space-2); align-items: start; overflow-wrap: anywhere; }
    li ac-icon { flex: none; margin-top: 0.15rem; color: var(--ac-text-muted); }
    li.completed, li.done, li.cancelled { color: var(--ac-text-muted); }
    li.completed ac-icon, li.done ac-icon { color: var(--ac-ok); }
    li.in_progress { font-weight: var(--ac-weight-medium); } li.in_progress ac-icon { color: var(--ac-accent); }
  `];

  constructor() {
    super();
    /** @type {any[]} */
    this.todos = [];
    this.label = '';
  }

  render() {
    return html`<ul aria-label=${this.label || t('results.todos')}>${this.todos.map((todo) => html`
      <li class=${todo.status ?? 'pending'}><ac-icon name=${ICONS[todo.status] ?? 'circle'}></ac-icon><span>${todoText(todo)}<span class="visually-hidden"> – ${statusText(todo.status)}</span></span></li>`)}</ul>`;
  }
}
customElements.define('ac-todo-list', AcTodoList);

/** @param {any} todo @returns {string} */
export const todoText = (todo) => todo.text ?? todo.content ?? todo.title ?? '';

/** @param {string | undefined} status */
const statusText = (status) => t(`results.todo.${status === 'in_progress' || status === 'cancelled' ? status : ICONS[status ?? ''] === 'circle-check' ? 'completed' : 'pending'}`);
