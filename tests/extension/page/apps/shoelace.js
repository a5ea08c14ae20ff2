import '@shoelace-style/shoelace/dist/components/button/button.js';
import '@shoelace-style/shoelace/dist/components/checkbox/checkbox.js';
import '@shoelace-style/shoelace/dist/components/dialog/dialog.js';
import '@shoelace-style/shoelace/dist/components/input/input.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';
import '@shoelace-style/shoelace/dist/components/textarea/textarea.js';

const app = document.getElementById('app');
app.innerHTML = `
  <sl-input label="Name" placeholder="Your name"></sl-input> <sl-input label="Secret" type="password"></sl-input>
  <sl-textarea label="Note"></sl-textarea>
  <sl-select label="Colour"><sl-option value="red">Red</sl-option><sl-option value="green">Green</sl-option></sl-select>
  <sl-checkbox>Terms</sl-checkbox> <sl-button variant="primary">Send</sl-button>
  <sl-dialog label="Sure?"><sl-button>Yes</sl-button></sl-dialog>`;
const part = (name) => app.querySelector(`sl-${name}`);
window.values = () => [part('input').value, part('textarea').value, part('select').value, part('checkbox').checked];
app.querySelector('sl-button[variant=primary]').addEventListener('click', () => part('dialog').show());
part('dialog').querySelector('sl-button').addEventListener('click', () => { window.said = 'yes'; });
