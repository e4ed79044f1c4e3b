/// What a provider of devices implements.
package verbena.verbs.spi;
