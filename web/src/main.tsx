import { render } from 'preact';
import './style.css';

const root = document.getElementById('app') as HTMLElement;
const path = location.pathname;
const shared = /^\/r\/([\w-]+)\/([\w-]+)\/?$/.exec(path);
const study = /^\/s\/([\w-]+)\/?$/.exec(path)?.[1];

// Each page fetches its own part.
if (study || path === '/session') void import('./app').then(({ App }) => render(<App study={study ?? null} />, root));
else if (shared)
  void import('./pages/shared').then(({ Shared }) => render(<Shared id={shared[1] ?? ''} proof={shared[2] ?? ''} />, root));
else if (path.startsWith('/admin')) void import('./admin/admin').then(({ Admin }) => render(<Admin />, root));
else
  void import('./start/start').then(async ({ Start, speakAsAsked }) => {
    await speakAsAsked();
    render(<Start />, root);
  });
