import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { waitFor } from './service.ts'

/** A real mail server that keeps what it takes. */
export async function openMailServer() {
  const mails: { to: string[]; text: string }[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'footfall' && password === 'secret'
        ? done(null, { user: username })
        : done(new Error('no')),
    async onData(stream, session, done) {
      const to = session.envelope.rcptTo.map(({ address }) => address)
      const sent = await text(stream).catch(() => undefined)
      if (sent === undefined) return done(new Error('the mail has no end'))
      // Long lines come in pieces (quoted-printable).
      mails.push({ to, text: sent.replaceAll('=\r\n', '') })
      done()
    },
  })
  // A service that is stopped in the middle of a mail, which is not kept then.
  smtp.on('error', () => {})
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const { port } = smtp.server.address() as AddressInfo
  return {
    mails,
    /** Settings that make the service send through it. */
    env: {
      SMTP_URL: `smtp://footfall:secret@127.0.0.1:${port}`,
      SMTP_FROM: 'Footfall <no-reply@footfall.example>',
    },
    /** The newest mail to an address, once there is one that says this. */
    mailTo: (email: string, says = '') =>
      waitFor(
        `a mail to ${email}`,
        () => mails.findLast(({ to, text }) => to.includes(email) && text.includes(says)),
        60_000,
      ),
    close: () => new Promise<void>((resolve) => smtp.close(resolve)),
  }
}

export type MailServer = Awaited<ReturnType<typeof openMailServer>>
