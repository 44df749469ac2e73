/** Mails that report a change of an account to its owner. */

const ifNotYou = `If you did not do this, contact the operator of the service immediately.
`

export const passwordResetNotice = (isFactorRemoved: boolean) => ({
  subject: 'Your password for Footfall was reset',
  text:
    'Your password was reset. All sessions and pending changes of your account ended.\n\n' +
    (isFactorRemoved
      ? `Your two-factor authentication was turned off because it was set up before you confirmed this address. You can turn it on again in your account.

`
      : '') +
    ifNotYou,
})

export const passwordChangedNotice = {
  subject: 'Your password for Footfall was changed',
  text: `Your password was changed. All other sessions of your account ended.\n\n${ifNotYou}`,
}

export const factorRemovedNotice = {
  subject: 'Two-factor authentication for Footfall was turned off',
  text: `Your account needs only the password to sign in now.\n\n${ifNotYou}`,
}

export const emailChangedNotice = (before: string, after: string) => ({
  subject: 'Your e-mail address for Footfall was changed',
  text: `Your account's e-mail address was ${before}. You now sign in as ${after}.\n\n${ifNotYou}`,
})
