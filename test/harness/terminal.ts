import { spawn } from 'node:child_process'
import { waitFor } from './service.ts'

export interface Terminal {
  /** Types a line, or other keys, once the program has asked this; each question is answered once. */
  answer(question: string, text: string, end?: string): Promise<void>
  /** All that is on the screen, without the codes that move the cursor. */
  output(): string
  /** The program's exit code, when it has ended. */
  ended: Promise<number | null>
}

/** Runs a program at a real terminal of its own: `script` of util-linux keeps one for it. */
export function openTerminal(command: string[], env: Record<string, string>): Terminal {
  const quoted = command.map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const screen = () => output.replace(/\x1b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r', '')
  let answered = 0
  return {
    async answer(question, text, end = '\r') {
      await waitFor(
        `“${question}” at the terminal:\n${screen()}`,
        () => screen().includes(question, answered),
        30_000,
      )
      answered = screen().indexOf(question, answered) + question.length
      child.stdin.write(text + end)
    },
    output: screen,
    ended: new Promise((resolve) => child.once('close', resolve)),
  }
}
