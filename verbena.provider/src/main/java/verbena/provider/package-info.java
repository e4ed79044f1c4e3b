/// Batches, events, connecting, and the checks of arguments, once for all providers. The rest of a verb is the
/// device's: [verbena.verbs.spi] has what a provider needs to be one.
package verbena.provider;
