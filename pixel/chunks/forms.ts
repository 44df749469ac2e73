/**
 * Identifies senders of forms with an e-mail address, if the settings enable it. The address is passed to the
 * page's own footfall('identify', …), which hashes it here and sends nothing without consent.
 */

const addresses = 'input[type=email],input[autocomplete~=email],input[name=email i]'
const silent =
  '[data-footfall-ignore],[data-footfall-ignore] *,[data-footfall-mask],[data-footfall-mask] *'
/** The same check that browsers apply to addresses. */
const isAddress = (text: string) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)

window.addEventListener(
  'submit',
  ({ target }) => {
    try {
      const field = [...document.querySelectorAll<HTMLInputElement>(addresses)].find(
        (field) => field.form === target && !field.matches(silent) && isAddress(field.value.trim()),
      )
      if (field) window.footfall!('identify', { email: field.value, source: 'form' })
    } catch {}
  },
  true,
)

export {}
