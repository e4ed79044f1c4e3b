/// The objects of the API over C's, and what they need of the device and the protection domain that they are made
/// from.
package verbena.ibverbs.objects;
