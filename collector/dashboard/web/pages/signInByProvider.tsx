import { api } from '../api.ts'
import { AuthLayout } from '../components/authLayout.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'

/** Messages for a failed sign-in at a provider, by the reason in the address. */
const refusals: Record<string, string> = {
  expired: 'This sign-in has expired or was already used. Start again.',
  provider_failed: 'The identity provider did not confirm the sign-in. Start again.',
  email_missing: 'The identity provider sent no e-mail address. Ask an owner of your organization.',
  email_unverified:
    'The identity provider has not verified your e-mail address. Verify it there, then try again.',
  domain_refused: 'Your organization does not accept e-mail addresses of this domain.',
  group_refused: 'You are in no group that may use Footfall. Ask an owner of your organization.',
  identity_conflict:
    'Another account of the identity provider already uses this member. Ask an owner to remove the member, then try again.',
  rate_limited: 'Too many attempts. Wait a minute, then try again.',
}

export const refusalOf = (search: string): string | null => {
  const reason = new URLSearchParams(search).get('single_sign_on')
  return reason && (refusals[reason] ?? refusals.provider_failed!)
}

/** Returns the organization's name for sign-in from a link such as `/sign-in?organization=acme`. */
export const nameInAddress = (): string | null =>
  new URLSearchParams(location.search).get('organization')

const storageKey = 'footfall.sign_in_name'

/** Redirects to the identity provider of an organization. */
export function SignInByProvider({ refusal, cancel }: { refusal: string | null; cancel(): void }) {
  const name = nameInAddress() ?? localStorage.getItem(storageKey) ?? ''
  return (
    <AuthLayout>
      <Page title="Single sign-on">
        {refusal && (
          <p class="fault" role="alert">
            {refusal}
          </p>
        )}
        <Form
          values={{ sign_in_name: name }}
          submit={async ({ sign_in_name = '' }) => {
            const { url } = await api.startSingleSignOn({ sign_in_name })
            localStorage.setItem(storageKey, sign_in_name)
            location.assign(url)
          }}
          action="Continue"
          cancel={cancel}
        >
          <TextField
            name="sign_in_name"
            label="Sign-in name"
            hint="Ask an owner of your organization for it."
            autocomplete="organization"
            maxLength={63}
            required
          />
        </Form>
      </Page>
    </AuthLayout>
  )
}
