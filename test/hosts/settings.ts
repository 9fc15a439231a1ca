/**
 * The four looks that everything must read well in: a short name for file names, and the colour theme's id in VS Code.
 */
export const themes = {
  light: 'Light Modern',
  dark: 'Dark Modern',
  contrast: 'Default High Contrast',
  contrastLight: 'Default High Contrast Light',
} as const;

/** Short name of a look: `light`, `dark`, `contrast`, `contrastLight`. */
export type Theme = keyof typeof themes;

/** VS Code settings by id. */
export type Settings = Readonly<Record<string, unknown>>;

/** User settings that keep VS Code quiet: no chat, no tips, no updates, no network, no questions on closing. */
export const quietSettings: Settings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'chat.agentHost.enabled': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.showReleaseNotes': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'window.confirmBeforeClose': 'never',
  'window.autoDetectColorScheme': false,
  'window.autoDetectHighContrast': false,
  'files.simpleDialog.enable': true,
  'terminal.integrated.gpuAcceleration': 'off', // text is then in the page, for screenshots without a GPU
  'terminal.integrated.cursorBlinking': false,
  'editor.cursorBlinking': 'solid',
  'editor.accessibilitySupport': 'off',
  'npm.autoDetect': 'off',
  'typescript.disableAutomaticTypeAcquisition': true,
  'json.schemaDownload.enable': false,
};

/** Asks about trust for every folder, as a fresh desktop VS Code does. */
export const trustSettings: Settings = {
  'security.workspace.trust.enabled': true,
  'security.workspace.trust.startupPrompt': 'always',
};

/** The class that the workbench carries in each look. */
export const themeClass: Readonly<Record<Theme, string>> = {
  light: 'vs',
  dark: 'vs-dark',
  contrast: 'hc-black',
  contrastLight: 'hc-light',
};

/** How the picker of colour themes calls each look. */
export const themeLabel: Readonly<Record<Theme, string>> = {
  light: 'Light Modern',
  dark: 'Dark Modern',
  contrast: 'Dark High Contrast',
  contrastLight: 'Light High Contrast',
};
