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
        <BeginDialog begun={(asked) => setOpen({ kind: 'confirm', ...asked })} close={close} />
      )}
      {open?.kind === 'confirm' && (
        <ConfirmCodeDialog
          secret={open.secret}
          uri={open.uri}
          confirmed={showCodes}
          close={close}
        />
      )}
      {open?.kind === 'codes' && <RecoveryCodesDialog codes={open.codes} close={close} />}
      {(open?.kind === 'end' || open?.kind === 'renew') && (
        <ChangeDialog
          kind={open.kind}
          submit={async (current_password, code) => {
            if (open.kind === 'renew') {
              const { recovery_codes } = await api.renewRecoveryCodes({ current_password, code })
              return showCodes(recovery_codes)
            }
            await api.endTwoFactor({ current_password, code })
            toast('Two-factor authentication is off')
            close()
            await changed()
          }}
          close={close}
        />
      )}
    </Section>
  )
}

type Begun = Awaited<ReturnType<typeof api.beginTwoFactor>>

function BeginDialog({ begun, close }: { begun(asked: Begun): void; close(): void }) {
  return (
    <Dialog title="Turn on two-factor authentication" close={close}>
      <Form
        submit={async ({ current_password = '' }) =>
          begun(await api.beginTwoFactor({ current_password }))
        }
        action="Continue"
        cancel={close}
      >
        <p>You need an app that generates codes, such as a password manager or an authenticator.</p>
        <CurrentPassword />
      </Form>
    </Dialog>
  )
}

function ConfirmCodeDialog({
  secret,
  uri,
  confirmed,
  close,
}: {
  secret: string
  uri: string
  confirmed(codes: string[]): Promise<void>
  close(): void
}) {
  return (
    <Dialog title="Scan this with your app" close={close}>
      <QrCode text={uri} label="The secret of your two-factor authentication" />
      <p class="hint">If you cannot scan it, enter this secret:</p>
      <Copyable label="the secret" text={secret} />
      <Form
        submit={async ({ code = '' }) =>
          confirmed((await api.confirmTwoFactor({ code })).recovery_codes)
        }
        action="Turn on"
        cancel={close}
      >
        <CodeField hint="The six digits that the app shows." />
      </Form>
    </Dialog>
  )
}

function RecoveryCodesDialog({ codes, close }: { codes: string[]; close(): void }) {
  return (
    <Dialog title="Store your recovery codes" close={close}>
      <p>
        Each code signs you in once without the app. They are not shown again. Print them, or store
        them with your passwords.
      </p>
      <Copyable label="the recovery codes" text={codes.join('\n')} />
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          I have stored them
        </button>
      </div>
    </Dialog>
  )
}

/** Turns two-factor authentication off, or renews the recovery codes. */
function ChangeDialog({
  kind,
  submit,
  close,
}: {
  kind: 'end' | 'renew'
  submit(currentPassword: string, code: string): Promise<void>
  close(): void
}) {
  return (
    <Dialog
      title={kind === 'end' ? 'Turn off two-factor authentication?' : 'Create new recovery codes?'}
      close={close}
    >
      <Form
        submit={({ current_password = '', code = '' }) => submit(current_password, code)}
        action={kind === 'end' ? 'Turn off' : 'Create new codes'}
        {...(kind === 'end' && { tone: 'danger' })}
        cancel={close}
      >
        {kind === 'renew' && <p>Your previous recovery codes no longer work.</p>}
        <CurrentPassword />
        <CodeField hint="From your authenticator app, or a recovery code." />
      </Form>
    </Dialog>
  )
}
