import {createElement as h, useState} from 'react';
import {createRoot} from 'react-dom/client';

// controlled: what React does not hear of, it takes back
function Form() {
  const [state, setState] = useState({name: '', phone: '', size: 's', terms: false, pay: '', note: ''});
  const [sent, setSent] = useState('');
  const set = (name) => (event) => {
    const {type, value, checked} = event.target;
    const digits = name === 'phone' ? value.replace(/\D/g, '').replace(/^(\d{3})(\d+)/, '$1 $2') : value;
    setState((before) => ({...before, [name]: type === 'checkbox' ? checked : digits}));
  };
  const radio = (pay) => h('label', null, h('input', {type: 'radio', name: 'pay', checked: state.pay === pay, value: pay, onChange: set('pay')}), pay);
  return h('form', {onSubmit: (event) => { event.preventDefault(); setSent(JSON.stringify(state)); }},
    h('label', null, 'Name', h('input', {value: state.name, onChange: set('name')})),
    h('label', null, 'Phone', h('input', {type: 'tel', value: state.phone, onChange: set('phone')})),
    h('label', null, 'Size', h('select', {value: state.size, onChange: set('size')}, h('option', {value: 's'}, 'Small'), h('option', {value: 'l'}, 'Large'))),
    h('label', null, h('input', {type: 'checkbox', checked: state.terms, onChange: set('terms')}), 'Terms'),
    radio('cash'), radio('card'),
    h('label', null, 'Note', h('textarea', {value: state.note, onChange: set('note')})),
    h('button', {disabled: !state.name}, 'Send'),
    h('output', null, sent));
}
createRoot(document.getElementById('app')).render(h(Form));
