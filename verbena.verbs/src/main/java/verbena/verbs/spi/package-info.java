/// What a provider of devices implements: [verbena.verbs.spi.Provider] and
/// [verbena.verbs.spi.ConnectionService]; and what all providers have to agree on.
package verbena.verbs.spi;
