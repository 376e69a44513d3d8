// All tests. Each gets a new directory, and is an entry of ctest.
#ifndef BIGTABLE_TESTS_C_TESTS_H_
#define BIGTABLE_TESTS_C_TESTS_H_

#define FOR_EACH_TEST(DO)                               \
  DO(AnErrorHasACodeAndAMessage)                        \
  DO(NullPointersAreRefused)                            \
  DO(NullOutputsAreRefused)                             \
  DO(TheLibraryHasAVersion)                             \
  DO(ADatabaseIsOpenedAsItsOptionsSay)                  \
  DO(OptionsOutOfRangeAreRefused)                       \
  DO(AReadOnlyDatabaseRefusesWrites)                    \
  DO(DatabasesShareAMemoryBudget)                       \
  DO(AClosedDatabaseRefusesCalls)                       \
  DO(TablesAreCreatedListedAndDeleted)                  \
  DO(ASchemaIsCheckedWhenATableIsMade)                  \
  DO(FamiliesAreAddedChangedAndDropped)                 \
  DO(FamiliesAreChangedTogetherOrNotAtAll)              \
  DO(RulesCollectVersions)                              \
  DO(BackgroundWorkIsDoneByRequest)                     \
  DO(StatisticsAreText)                                 \
  DO(AMutationIsAppliedAsAWhole)                        \
  DO(AMutationDeletes)                                  \
  DO(InvalidOperationsAreReported)                      \
  DO(ABatchHasAnErrorForEachMutation)                   \
  DO(CallsEndAtTheirTimeoutsAndIfCancelled)             \
  DO(ACheckpointIsADatabase)                            \
  DO(BackupsAreListedVerifiedAndRestored)               \
  DO(BackupsAreOfTablesAndExpire)                       \
  DO(ADamagedDatabaseIsRepaired)                        \
  DO(ADatabaseIsReadBesideItsWriter)                    \
  DO(SortedFilesAreIngested)                            \
  DO(TextHasAnyBytes)                                   \
  DO(ARowHasItsCellsInOrder)                            \
  DO(AStreamReturnsTheRowsOfASet)                       \
  DO(AStreamIsLimitedAndReversed)                       \
  DO(AStreamReturnsItsErrorAgain)                       \
  DO(ASnapshotDoesNotChange)                            \
  DO(CellsArePacked)                                    \
  DO(PackedCellsHaveLabels)                             \
  DO(AStreamOfPackedCellsReturnsItsErrorAgain)          \
  DO(PackedOperationsAreMutations)                      \
  DO(PackedContributionsAreMerged)                      \
  DO(PackedOperationsAreChecked)                        \
  DO(FiltersSelectCells)                                \
  DO(FiltersOfWholeRowsSelectCells)                     \
  DO(AnInvalidFilterIsReported)                         \
  DO(ARowIsCheckedAndMutated)                           \
  DO(ARowIsReadModifiedAndWritten)                      \
  DO(AFunctionMutatesARow)                              \
  DO(ABatchIsAppliedTogetherOrNotAtAll)                 \
  DO(ATransactionCommitsUnlessItIsInConflict)           \
  DO(ATransactionRefusesNullPointers)                   \
  DO(AFunctionIsRunAgainAfterAConflict)                 \
  DO(ContributionsToACellAreMerged)                     \
  DO(ContributionsOfDoublesAreMerged)                   \
  DO(InvalidContributionsAreReported)                   \
  DO(AStreamIsResumed)                                  \
  DO(SizesOfRangesAreEstimated)                         \
  DO(RangesOfRowsAreDropped)                            \
  DO(OptionsChangeWhileTheDatabaseIsOpen)               \
  DO(AnAccessListHasUsers)                              \
  DO(AccessListsControlFamilies)                        \
  DO(AccessListsAreChecked)                             \
  DO(AQuotaOfARateSaysWhenToRetry)                      \
  DO(AQuotaOfAUserLimitsTheTablesOpenedInItsName)       \
  DO(FunctionsForQuotasRefuseNullPointers)              \
  DO(AnOwnerIsLimitedByAQuotaOfStorage)                 \
  DO(StorageIsChargedToFamiliesTablesAndOwners)         \
  DO(ChargesAreListed)                                  \
  DO(TabletsAreSplitMovedAndMerged)                     \
  DO(TheSchemaOfATableIsReadAndChanged)                 \
  DO(ASchemaDescribesItsFamilies)                       \
  DO(TheInfoLogGoesToAFunction)                         \
  DO(OptionsOfTheMasterAreInEffect)                     \
  DO(CompactionsArePausedAndCancelled)                  \
  DO(AnObserverSeesTheOperationsOfAMutation)            \
  DO(AnObserverReadsAndAddsMutations)                   \
  DO(AnObserverReadsOtherRows)                          \
  DO(ARefusedWriteChangesNothing)                       \
  DO(ARefusalKeepsTheTimeToRetry)                       \
  DO(ThreadsAreObservedOneCommitAfterAnother)           \
  DO(AFailedRegistrationOfAnObserverEndsItsContextOnce) \
  DO(ObserversOfATableAreReplaced)                      \
  DO(AnObserverMayPassNullPointers)                     \
  DO(ACompactionFilterKeepsRemovesAndReplacesCells)     \
  DO(AFamilyChangesItsCompactionFilter)                 \
  DO(AFailedRegistrationOfAFilterEndsItsContextOnce)    \
  DO(ACompactionFilterIsCalledBySeveralThreads)         \
  DO(AnOperatorOfTheProgramMergesContributions)         \
  DO(AFailedRegistrationOfAnOperatorEndsItsContextOnce)

#define DECLARE_TEST(name) void name(const char* directory);
FOR_EACH_TEST(DECLARE_TEST)
#undef DECLARE_TEST

#endif  // BIGTABLE_TESTS_C_TESTS_H_
