import {LitElement, css, html} from 'lit';
import {base, cards, views} from 'agentcore/styles.js';

/** The weather in all cities: a page of a module, in the look of the rest. */
class WeatherPanel extends LitElement {
  static properties = {client: {attribute: false}, _cities: {state: true}};

  static styles = [base, cards, views, css`
    .cities { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: var(--ac-space-3); }
    .card { padding: var(--ac-space-4); }
    strong { display: block; font-size: var(--ac-text-xxl); font-weight: var(--ac-weight-bold); }
  `];

  constructor() {
    super();
    this._cities = [];
  }

  async connectedCallback() {
    super.connectedCallback();
    this._cities = await this.client.get('forecast');
  }

  render() {
    return html`
      <div class="view-head"><h1>${this.client.locale === 'zh' ? '天气' : 'Weather'}</h1></div>
      <ul class="cities">${this._cities.map(({city, celsius}) => html`<li class="card"><span class="muted">${city}</span><strong>${celsius} °C</strong></li>`)}</ul>`;
  }
}

customElements.define('weather-panel', WeatherPanel);
