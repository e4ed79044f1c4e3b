/// The interfaces that a provider of devices implements, [verbena.verbs.spi.Provider] and
/// [verbena.verbs.spi.ConnectionService], and the rules that all providers share.
package verbena.verbs.spi;
