/// What one package of this module needs of another one's private parts. It is exported to no module.
@org.jspecify.annotations.NullMarked
package verbena.verbs.access;
