import { useState } from 'preact/hooks'
import { type Account, api } from '../../api.ts'
import { CodeField } from '../../components/codeField.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { toast } from '../../components/toast.tsx'
import { CurrentPassword } from './currentPassword.tsx'
import { QrCode } from './qrCode.tsx'

type Open =
  | { kind: 'begin' | 'end' | 'renew' }
  | { kind: 'confirm'; secret: string; uri: string }
  | { kind: 'codes'; codes: string[] }
  | null

/** Codes of an authenticator app, in addition to the password. */
export function TwoFactor({ account, changed }: { account: Account; changed(): Promise<void> }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const factor = account.two_factor
  const showCodes = async (codes: string[]) => {
    setOpen({ kind: 'codes', codes })
    await changed()
  }
  const button = (kind: 'begin' | 'end' | 'renew', text: string) => (
    <button type="button" onClick={() => setOpen({ kind })}>
      {text}
    </button>
  )
  return (
    <Section
      title="Two-factor authentication"
      lead={
        factor ? (
          <>
            On since <RelativeTime at={factor.since} />. Sign-in requires a code of your
            authenticator app.
          </>
        ) : (
          'Off. Your password alone is enough to sign in as you.'
        )
      }
      actions={
        factor ? (
          <>
            {button('renew', 'New recovery codes')}
            {button('end', 'Turn off')}
          </>
        ) : (
          button('begin', 'Turn on')
        )
      }
    >
      {factor && factor.recovery_codes_left < 3 && (
        <p class="notice">
          {factor.recovery_codes_left} recovery codes left. Create new ones before you run out.
        </p>
      )}

      {open?.kind === 'begin' && (
        <Dialog title="Turn on two-factor authentication" close={close}>
          <Form
            submit={async ({ current_password = '' }) =>
              setOpen({ kind: 'confirm', ...(await api.beginTwoFactor({ current_password })) })
            }
            action="Continue"
            cancel={close}
          >
            <p>
              You need an app that generates codes, such as a password manager or an authenticator.
            </p>
            <CurrentPassword />
          </Form>
        </Dialog>
      )}
      {open?.kind === 'confirm' && (
        <Dialog title="Scan this with your app" close={close}>
          <QrCode text={open.uri} label="The secret of your two-factor authentication" />
          <p class="hint">If you cannot scan it, enter this secret:</p>
          <Copyable label="the secret" text={open.secret} />
          <Form
            submit={async ({ code = '' }) =>
              showCodes((await api.confirmTwoFactor({ code })).recovery_codes)
            }
            action="Turn on"
            cancel={close}
          >
            <CodeField hint="The six digits that the app shows." />
          </Form>
        </Dialog>
      )}
      {open?.kind === 'codes' && (
        <Dialog title="Store your recovery codes" close={close}>
          <p>
            Each code signs you in once without the app. They are not shown again. Print them, or
            store them with your passwords.
          </p>
          <Copyable label="the recovery codes" text={open.codes.join('\n')} />
          <div class="actions">
            <button type="button" class="primary" onClick={close}>
              I have stored them
            </button>
          </div>
        </Dialog>
      )}
      {(open?.kind === 'end' || open?.kind === 'renew') && (
        <Dialog
          title={
            open.kind === 'end'
              ? 'Turn off two-factor authentication?'
              : 'Create new recovery codes?'
          }
          close={close}
        >
          <Form
            submit={async ({ current_password = '', code = '' }) => {
              if (open.kind === 'renew') {
                const { recovery_codes } = await api.renewRecoveryCodes({ current_password, code })
                return showCodes(recovery_codes)
              }
              await api.endTwoFactor({ current_password, code })
              toast('Two-factor authentication is off')
              close()
              await changed()
            }}
            action={open.kind === 'end' ? 'Turn off' : 'Create new codes'}
            {...(open.kind === 'end' && { tone: 'danger' })}
            cancel={close}
          >
            {open.kind === 'renew' && <p>Your previous recovery codes no longer work.</p>}
            <CurrentPassword />
            <CodeField hint="From your authenticator app, or a recovery code." />
          </Form>
        </Dialog>
      )}
    </Section>
  )
}
