// Installs the real VS Code for tests ahead of time (the layer `editor` does it by itself): node test/hosts/setup.ts
import { ensureInstallation } from './installation.ts';

const { server } = await ensureInstallation();
console.log(`Ready: ${server}`);
