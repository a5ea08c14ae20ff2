/** What is used of xterm.js. */
export interface Theme { [name: string]: string }

export class Terminal {
  constructor(options: Record<string, unknown>);
  options: Record<string, unknown>;
  cols: number;
  rows: number;
  loadAddon(addon: FitAddon): void;
  open(parent: HTMLElement): void;
  write(data: string | Uint8Array, done?: () => void): void;
  reset(): void;
  focus(): void;
  resize(columns: number, rows: number): void;
  dispose(): void;
  onData(listener: (data: string) => void): {dispose(): void};
  onResize(listener: (size: {cols: number, rows: number}) => void): {dispose(): void};
  attachCustomKeyEventHandler(handler: (event: KeyboardEvent) => boolean): void;
}

export class FitAddon {
  fit(): void;
  proposeDimensions(): {cols: number, rows: number} | undefined;
}

export const styles: string;
