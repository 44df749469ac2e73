import { createTransport } from 'nodemailer'

/** Sends a mail of plain text. */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<void>

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
