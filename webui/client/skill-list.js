/** The skills that the server finds, for all views; loaded on demand, because the server searches its folders each time. */
import {Store} from '../base/store.js';
import {client} from './client.js';

/** @typedef {{type: string, message: string, file: string, line?: number, isError: boolean}} SkillProblem */
/**
 * @typedef {object} Skill
 * @property {string} name
 * @property {string} description
 * @property {string} source  `workspace`, `user` or `module:NAME`
 * @property {string} folder
 * @property {'ready' | 'new' | 'changed' | 'refused' | 'invalid' | 'shadowed'} state
 * @property {boolean} isUsable  models get it, maybe in the version accepted before
 * @property {boolean} isWaiting  its review waits in the approval view
 * @property {string[]} agents  the agents whose models get it
 * @property {string[]} files
 * @property {number} chars
 * @property {string} license
 * @property {string} compatibility
 * @property {string[]} allowedTools
 * @property {SkillProblem[]} problems
 */

class SkillList extends Store {
  constructor() {
    super();
    /** @type {Skill[]} */
    this.skills = [];
    /** Problems of the folders that skills are in. @type {SkillProblem[]} */
    this.problems = [];
    /** @type {unknown} */
    this.error = null;
    this.isLoaded = false;
    /** @type {Promise<void> | null} */
    this._loading = null;
    for (const type of ['policy.decided', 'settings.changed', 'module.stateChanged']) client.on(type, () => { this.isLoaded = false; });
  }

  /** Load the list. */
  load() {
    this._loading ??= this._load().finally(() => { this._loading = null; });
    return this._loading;
  }

  async _load() {
    try {
      const {skills, problems} = await client.get('/api/skills');
      this.skills = skills;
      this.problems = problems;
      this.error = null;
      this.isLoaded = true;
    } catch (error) {
      this.error = error;
    }
    this.notify();
  }
}

/** The list shared by all views. */
export const skillList = new SkillList();
