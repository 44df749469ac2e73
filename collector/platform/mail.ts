import { createTransport } from 'nodemailer'

export interface Mail {
  to: string
  subject: string
  text: string
  /** The same text as HTML. */
  html?: string
  headers?: Record<string, string>
}

export type SendMail = (mail: Mail) => Promise<void>

/** The time limit for each response of a mail server. */
const answerMs = 20_000

const openTransport = (smtpUrl: string) =>
  createTransport({
    url: smtpUrl,
    connectionTimeout: answerMs,
    greetingTimeout: answerMs,
    socketTimeout: answerMs,
  })

/** Logs in at the server of SMTP_URL, and sends nothing. Rejects if the server cannot be used. */
export async function verifyMail(smtpUrl: string): Promise<void> {
  const transport = openTransport(smtpUrl)
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

export function openMail(smtpUrl: string, from: string): SendMail {
  const transport = openTransport(smtpUrl)
  return async (mail) => {
    await transport.sendMail({ from, ...mail })
  }
}

/**
 * Whether a failed mail was certainly not sent, so that a retry is safe. The server was unreachable, refused
 * the login or responded with 4xx. After an interruption the outcome is unknown, and the result is false.
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

interface MailError {
  code?: string
  syscall?: string
  responseCode?: number
  timeoutType?: string
}
