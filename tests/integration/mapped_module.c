/* SPDX-License-Identifier: Apache-2.0 */
/* For mappings_test: a library that is loaded after the start. */
int offcpud_mapped_module(void);
int offcpud_mapped_module(void) {
  return 1;
}
