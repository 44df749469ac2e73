import { createTransport } from 'nodemailer'

export interface Mail {
  to: string
  subject: string
  text: string
  /** The same for programs that show it. */
  html?: string
  headers?: Record<string, string>
}

export type SendMail = (mail: Mail) => Promise<void>

/** How long a mail server may take for each of its answers. */
const answerMs = 20_000

/** Sends through the server of SMTP_URL. */
export function openMail(smtpUrl: string, from: string): SendMail {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: answerMs,
    greetingTimeout: answerMs,
    socketTimeout: answerMs,
  })
  return async (mail) => {
    await transport.sendMail({ from, ...mail })
  }
}

/**
 * Whether a failed mail was certainly not sent, and may be sent again. There was no server, it refused the login, or it cannot accept it now (4xx). After an interruption this is unknown.
 */
export function wasNotSent(error: unknown): boolean {
  const { code, syscall, responseCode, timeoutType } = error as MailError
  return (
    ['EAUTH', 'EDNS'].includes(code ?? '') ||
    syscall === 'connect' ||
    ['CONNECTION_TIMEOUT', 'GREETING_TIMEOUT'].includes(timeoutType ?? '') ||
    (responseCode !== undefined && responseCode < 500)
  )
}

/** What nodemailer's errors say. */
interface MailError {
  code?: string
  syscall?: string
  /** The status of the server's response. */
  responseCode?: number
  timeoutType?: string
}
