import { render } from 'preact';
import { App } from './app';
import './style.css';

const root = document.getElementById('app') as HTMLElement;
const path = location.pathname;
const study = /^\/s\/([\w-]+)\/?$/.exec(path)?.[1];

if (study) render(<App study={study} />, root);
else if (path === '/session') render(<App study={null} />, root);
else if (path.startsWith('/admin')) void import('./admin/admin').then(({ Admin }) => render(<Admin />, root));
else void import('./start/start').then(({ Start }) => render(<Start />, root));
