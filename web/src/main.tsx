import { render } from 'preact';
import { App } from './app';
import './style.css';

const root = document.getElementById('app') as HTMLElement;
const path = location.pathname;
const shared = /^\/r\/([\w-]+)\/([\w-]+)\/?$/.exec(path);
const study = /^\/s\/([\w-]+)\/?$/.exec(path)?.[1];

if (study) render(<App study={study} />, root);
else if (path === '/session') render(<App study={null} />, root);
else if (shared)
  void import('./pages/shared').then(({ Shared }) => render(<Shared id={shared[1] ?? ''} proof={shared[2] ?? ''} />, root));
else if (path.startsWith('/admin')) void import('./admin/admin').then(({ Admin }) => render(<Admin />, root));
else void import('./start/start').then(({ Start }) => render(<Start />, root));
