/** The logo: two steps. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="7" y="12" width="7" height="10" rx="3.5" />
      <circle cx="10.5" cy="26" r="2.5" />
      <rect x="18" y="4" width="7" height="10" rx="3.5" />
      <circle cx="21.5" cy="18" r="2.5" />
    </svg>
  )
}
