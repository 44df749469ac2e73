import type { Config } from '../../config.ts'
import { verifyMail } from '../../platform/mail.ts'
import { askAll, type Finding, finding } from './finding.ts'

/** Checks whether the mail server accepts the login of SMTP_URL. It sends no mail. */
export async function examineMail({ smtpUrl }: Config): Promise<Finding[]> {
  if (smtpUrl === null) return []
  return askAll('the mail server', 'SMTP_URL', async () => {
    await verifyMail(smtpUrl)
    return [finding('the mail server accepts the login of SMTP_URL')]
  })
}
